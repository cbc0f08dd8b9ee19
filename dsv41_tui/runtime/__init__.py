"""asyncio: sessions that hold a node, the store that holds the state, the sampler between them."""
