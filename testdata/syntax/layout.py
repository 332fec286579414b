# Tabs, CRLF, strings over several lines, comments at odd columns, no final newline.
for epoch in range(2):
	for batch in loader:
		text = """first
second
			third"""
		model.fit(batch,
  text)
# a comment at column zero
		model.check(); done = True;
	print(done)