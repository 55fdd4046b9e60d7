"""Small NATS servers with known bad behaviour, and what the harness makes of them."""
