// What the page asks the server. Addresses are relative, so the token in ours goes with them.

/// A refusal of the server: its sentence, and the parameter at fault where there is one.
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.error ?? `the server answered ${status}`);
    this.status = status;
    this.field = answer.field;
  }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, {cache: "no-store", ...options});
  } catch {
    throw new Refusal(0, {error: "the server does not answer; it may have ended"});
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

const send = (path, body) =>
  ask(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});

export const getCatalog = () => ask("api/catalog");
export const getFigures = () => ask("api/figures");
export const getStores = () => ask("api/stores");
export const getStore = (index, seen) => ask(`api/stores/${index}?seen=${seen}`);
export const getStudy = (store, study, {first = 0, stride = 0, problems = 0}) =>
  ask(`api/stores/${store}/${study}?first=${first}&stride=${stride}&problems=${problems}`);
export const settle = call => send("api/settle", call);
export const compose = study => send("api/compose", study);
export const startStudy = study => send("api/studies", study);
export const stopSweep = index => ask(`api/stores/${index}`, {method: "DELETE"});

/// A run of a verb. `onProgress` gets every state, with the rows so far whenever there are more;
/// `stop()` ends it, and `result` then has the rows that were there, or is null.
export class Run {
  constructor(call, onProgress = () => {}) {
    this.id = null;
    this.stopped = false;
    this.result = this.follow(call, onProgress);
  }

  async follow(call, onProgress) {
    // A cheap run is over with the first request; a dear one gives its number after a moment.
    let state = await send("api/runs", {...call, wait: 150});
    let rows = 0;
    this.id = state.id;
    if (this.stopped) await this.end();
    while (!state.ended) {
      rows = state.result?.record.rows.length ?? rows;
      onProgress(state);
      state = await ask(`api/runs/${this.id}?wait=${rows === 0 ? 300 : 1000}&rows=${rows}`);
    }
    return state.result ?? null;
  }

  async end() {
    try {
      await ask(`api/runs/${this.id}`, {method: "DELETE"});
    } catch (problem) {
      if (problem.status !== 404) throw problem;  // it ended by itself meanwhile
    }
  }

  async stop() {
    this.stopped = true;
    if (this.id !== null) await this.end();
  }
}
