// Which turn asked for which call. Claude Code and Codex pass the id on that the model gave to a call; the calls of
// others are known by their name and their order: the next call of that name belongs to the last turn that asked.
import type { Event } from '@subluminal/contracts';

/** A call that a turn asked for. */
export interface AskedToolUse {
  readonly turnId: string;
  /** What the model called it. */
  readonly id: string;
  readonly name: string;
  /** The call, once it has come. */
  readonly callId: string | null;
}

interface OpenAsk extends AskedToolUse {
  callId: string | null;
  /** A later turn has asked for a tool of the same name: only its id can tell. */
  isOvertaken: boolean;
}

/** Turns ask for tools that the client runs itself, and those never come. */
const ASKS_MAX = 10_000;

/** Takes what happened in a run, in its order. */
export class AskedCalls {
  readonly #asks: OpenAsk[] = [];
  /** Calls whose turn may not have ended yet: some clients do not wait for the end. */
  readonly #early = new Map<string, string>();

  see(event: Event): void {
    if (event.type === 'turn_end') {
      const asked = event.tool_calls ?? [];
      for (const { name } of asked) this.#overtake(name);
      for (const { id, name } of asked) this.#ask(event.call.call_id, { id, name });
    }
    if (event.type === 'tool_call_start') this.#take(event.call);
  }

  /** The calls that a turn asked for, in its order. */
  ofTurn(turnId: string): readonly AskedToolUse[] {
    return this.#asks.filter((ask) => ask.turnId === turnId);
  }

  /** What a turn asked for when it got this call; undefined when none is known. */
  forCall(callId: string): AskedToolUse | undefined {
    return this.#asks.find((ask) => ask.callId === callId);
  }

  #ask(turnId: string, { id, name }: Pick<AskedToolUse, 'id' | 'name'>): void {
    const callId = this.#early.get(id) ?? null;
    this.#early.delete(id);
    // Its name alone had given it to another turn.
    const wrong = callId === null ? undefined : this.#asks.find((ask) => ask.callId === callId);
    if (wrong !== undefined) wrong.callId = null;
    this.#asks.push({ turnId, id, name, callId, isOvertaken: false });
    if (this.#asks.length > ASKS_MAX) this.#asks.shift();
  }

  #overtake(name: string): void {
    const older = this.#asks.find(
      (ask) => ask.name === name && ask.callId === null && !ask.isOvertaken,
    );
    if (older !== undefined) older.isOvertaken = true;
  }

  #take(call: { readonly call_id: string; readonly tool_name: string; tool_use_id?: string }) {
    const { call_id, tool_name, tool_use_id } = call;
    const byId = this.#asks.findLast(({ id, callId }) => callId === null && id === tool_use_id);
    const byName = this.#asks.find(
      ({ name, callId, isOvertaken }) =>
        callId === null && !isOvertaken && isNamed(name, tool_name),
    );
    const ask = byId ?? byName;
    if (ask !== undefined) ask.callId = call_id;
    const isEarly = byId === undefined && tool_use_id !== undefined;
    if (isEarly && this.#early.size < ASKS_MAX) this.#early.set(tool_use_id, call_id);
  }
}

/** Clients put the server before the name of its tool: `mcp__files__read`, `files.read`. */
function isNamed(name: string, tool: string): boolean {
  return name === tool || name.endsWith(`__${tool}`) || name.endsWith(`.${tool}`);
}
