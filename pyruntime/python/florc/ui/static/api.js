// What the server is asked. Addresses are relative: the token is part of that of the page.

export async function get(name, query = {}) {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  return told(await fetch(`api/${name}?${words}`));
}

export async function post(name, body) {
  return told(await send(name, body));
}

// Calls `hear` with each event as it comes.
export async function stream(name, body, hear) {
  const answer = await send(name, body);
  if (!answer.ok) return void (await told(answer));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) hear(JSON.parse(line));
  }
}

function send(name, body) {
  const headers = { "Content-Type": "application/json" };
  return fetch(`api/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function told(answer) {
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
  return found;
}
