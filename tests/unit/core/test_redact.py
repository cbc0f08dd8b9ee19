"""Secrets are masked; what only sounds like one is left alone."""

from __future__ import annotations

import pytest

from dsv41_tui.core.redact import redact


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc.def123456", "Authorization: Bearer ***"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "curl -H 'Authorization: Basic ***' x"),
        ("HF_TOKEN=hf_abcdefghijklmnop rest", "HF_TOKEN=*** rest"),
        ("seen hf_abcdefghijklmnop here", "seen hf_*** here"),
        ("key sk-1234567890abcdef here", "key sk-*** here"),
        ("--api-key hunter2 --port 8000", "--api-key *** --port 8000"),
        ("--api-key=hunter2 --port 8000", "--api-key=*** --port 8000"),
        ("'api_key': 'hunter2', 'x': 1", "'api_key': ***, 'x': 1"),
        ("LITELLM_MASTER_KEY=hunter2", "LITELLM_MASTER_KEY=***"),
        ('password: "two words" next', "password: *** next"),
        ("http://me:hun@ter2@nas/x", "http://me:***@nas/x"),
        ("GET /v1?token=abc&x=1", "GET /v1?token=***&x=1"),
        ("args: {'api_key': ['hunter2'], 'model': 1}", "args: {'api_key': ***, 'model': 1}"),
        ("Namespace(api_keys=['a', 'hunter2'], host='0')", "Namespace(api_keys=***, host='0')"),
        ('["--api-key", "hunter2", "--port", "1"]', '["--api-key", ***, "--port", "1"]'),
        ('{\\"api_key\\": \\"hunter2\\"}', '{\\"api_key\\": ***}'),
        ('{"password":"hun\\"ter2", "x": 1}', '{"password":***, "x": 1}'),
        ("password=hun&ter2 next", "password=*** next"),
        ("http://me:hun@t/er2@nas/x", "http://me:***@nas/x"),
        ("https://hunter2hunter2hunter2@nas/x", "https://***@nas/x"),
        ("HF_TOKEN = Nonehunter2", "HF_TOKEN = ***"),
        ("MYSQL_PWD=hunter2 PASS: hunter2", "MYSQL_PWD=*** PASS: ***"),
        ("DOCKER_AUTH={'auth': 'aHVudGVyMg=='}", "DOCKER_AUTH={'auth': ***}"),
        ("Cookie: session=hunter2; id=3", "Cookie: ***"),
        ("sshpass -p hunter2 ssh nas; curl -u me:hunter2 nas", "sshpass -p *** ssh nas; curl -u me:*** nas"),
        ("-----BEGIN RSA PRIVATE KEY-----\\nMIIhunter2", "-----BEGIN RSA PRIVATE KEY-----***"),
        ("2026-11-30T16:17:58Z " + "MIIhunter2Qz/" * 4 + "Abcdefgh1234", "2026-11-30T16:17:58Z ***"),
    ],
)
def test_masked(text: str, masked: str) -> None:
    assert redact(text) == masked
    assert redact(redact(text)) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Avg prompt throughput: 812.4 tokens/s, Avg generation throughput: 41.6 tokens/s",
        "max_tokens=512 eos_token_id: 2 tokenizer='/model' tokenizer_mode=auto",
        "prompt_token_ids_len=1,prefill_token_ids_len=None,stop_token_ids=[]",
        "docker run -u 1000:1000 rank; PWD=/root; pass_config={}",
        "image sha256:" + "0123456789abcdef" * 4,
        "'api_key': None, 'hf_token': None",
        "To serve at least one request, (2.61 GiB KV cache is needed)",
        "the key is that KV head counts match; basic understanding-of-things",
        "http://10.77.1.11:8000/health = 200",
        "NCCL INFO NET/IB : Using [0]rocep1s0f0:1/RoCE",
    ],
)
def test_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "token",
        "api_key=",
        "://",
        "--a",
        "a:",
        "://a:",
        "eyJaaaaaaaaa",
        "Bearer ",
        "-",
        "key: '",
        "pass=",
        "://x:@",
        'key=\\"',
        "aA+/",
    ],
)
def test_hostile_repetition_is_survived(piece: str) -> None:
    text = piece * (50_000 // len(piece))
    assert len(redact(text)) <= len(text) + 3 * text.count("'") + 3
