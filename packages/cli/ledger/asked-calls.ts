// Which calls a turn asked for. Clients pass no id from a model to a server that all of them have, so a call is
// known by its name and its order: the next call of that name, unless a later turn has asked for it, too.
import type { Event } from '@subluminal/contracts';

interface AskedTool {
  readonly id: string;
  readonly name: string;
}

export class AskedCalls {
  readonly #waiting: AskedTool[];
  readonly #found = new Map<string, string>();

  constructor(asked: readonly AskedTool[]) {
    this.#waiting = [...asked];
  }

  /** The ids of calls, by what the model called them. */
  get found(): ReadonlyMap<string, string> {
    return this.#found;
  }

  /** Takes what happened in the run after the turn, in its order. */
  see(event: Event): void {
    if (event.type === 'turn_end') {
      for (const { name } of event.tool_calls ?? []) {
        const at = this.#waiting.findIndex((asked) => asked.name === name);
        if (at !== -1) this.#waiting.splice(at, 1);
      }
    }
    if (event.type !== 'tool_call_start') return;
    const { tool_name, call_id } = event.call;
    const at = this.#waiting.findIndex(({ name }) => isNamed(name, tool_name));
    const [asked] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (asked !== undefined) this.#found.set(asked.id, call_id);
  }
}

/** Clients put the server before the name of its tool: `mcp__files__read`, `files.read`. */
function isNamed(name: string, tool: string): boolean {
  return name === tool || name.endsWith(`__${tool}`) || name.endsWith(`.${tool}`);
}
