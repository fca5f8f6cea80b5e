// Puts the blocks of a stream one after the other. The OpenAI wires may write several at once: the first that
// is open goes on as it comes, the others wait until it has ended.
import type { AnswerEvent, Block } from './form.ts';

const LANES_MAX = 1_024;
const HELD_LENGTH_MAX = 16 * 1024 * 1024;

interface Lane {
  readonly block: Block;
  readonly held: AnswerEvent[];
  isClosed: boolean;
}

export class BlockLanes {
  readonly #lanes = new Map<string, Lane>();
  #heldLength = 0;
  #openedCount = 0;

  has(key: string): boolean {
    return this.#lanes.get(key)?.isClosed === false;
  }

  /** A block waits for another to end. */
  get isWaiting(): boolean {
    return this.#lanes.size > 1;
  }

  /** More is held back than an honest stream needs: the stream must end. */
  get isOverflowing(): boolean {
    return this.#heldLength > HELD_LENGTH_MAX || this.#openedCount > LANES_MAX;
  }

  open(key: string, block: Block): readonly AnswerEvent[] {
    const isFirst = this.#lanes.size === 0;
    this.#openedCount += 1;
    this.#lanes.set(key, { block, held: [], isClosed: false });
    return isFirst ? [{ type: 'block_start', block }] : [];
  }

  add(key: string, event: AnswerEvent): readonly AnswerEvent[] {
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.isClosed) return [];
    if (this.#first === lane) return [event];
    lane.held.push(event);
    this.#heldLength += 'text' in event ? event.text.length : 1;
    return [];
  }

  close(key: string): readonly AnswerEvent[] {
    const lane = this.#lanes.get(key);
    if (lane === undefined || lane.isClosed) return [];
    lane.isClosed = true;
    return this.#release();
  }

  closeAll(): readonly AnswerEvent[] {
    for (const lane of this.#lanes.values()) lane.isClosed = true;
    return this.#release();
  }

  get #first(): Lane | undefined {
    return this.#lanes.values().next().value;
  }

  #release(): readonly AnswerEvent[] {
    const events: AnswerEvent[] = [];
    for (const [key, lane] of this.#lanes) {
      if (!lane.isClosed) break;
      events.push({ type: 'block_end' });
      this.#lanes.delete(key);
      const next = this.#first;
      if (next === undefined) break;
      events.push({ type: 'block_start', block: next.block }, ...next.held);
      next.held.length = 0;
    }
    if (this.#lanes.size <= 1) this.#heldLength = 0;
    return events;
  }
}
