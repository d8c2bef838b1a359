"""The same patch elsewhere: tables of any engine, SQL text, ONNX. Each behind its extra."""
