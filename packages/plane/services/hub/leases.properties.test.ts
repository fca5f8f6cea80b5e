import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { Hub } from './hub.ts';
import { LeaseShim } from './testing/lease-shim.ts';
import { budget, policyOf, RUN, requestOf, type SealedPolicy } from './testing/scenario.ts';

const TOOLS = ['read', 'write'] as const;
const SHIMS = 4;

type Step =
  | { readonly do: 'call'; readonly shim: number; readonly tool: (typeof TOOLS)[number] }
  | { readonly do: 'toHub' | 'toShim' | 'giveBack' | 'die'; readonly shim: number }
  | { readonly do: 'ask'; readonly tool: (typeof TOOLS)[number] };

const shim = fc.nat({ max: SHIMS - 1 });
const tool = fc.constantFrom(...TOOLS);
const calls = fc.record({ do: fc.constant('call' as const), shim, tool });
const frames = fc.record({ do: fc.constantFrom('toHub' as const, 'toShim' as const), shim });
const returns = fc.record({ do: fc.constant('giveBack' as const), shim });
const deaths = fc.record({ do: fc.constant('die' as const), shim });
/** A call that the hub decides, as for a hook. */
const asked = fc.record({ do: fc.constant('ask' as const), tool });
const peaceful = fc.oneof(
  { arbitrary: calls, weight: 5 },
  { arbitrary: frames, weight: 8 },
  { arbitrary: returns, weight: 1 },
  { arbitrary: asked, weight: 1 },
);
const deadly = fc.oneof({ arbitrary: peaceful, weight: 30 }, { arbitrary: deaths, weight: 1 });

/** Lets what has settled go on. */
const settled = () => new Promise(setImmediate);

class World {
  readonly hub: Hub;
  readonly shims: readonly LeaseShim[];
  readonly #policy: SealedPolicy;
  askedPasses = 0;
  #asking = 0;

  private constructor(policy: SealedPolicy, hub: Hub) {
    this.#policy = policy;
    this.hub = hub;
    this.shims = Array.from({ length: SHIMS }, (_, at) => new LeaseShim(hub, policy, `s${at}`));
  }

  static async open(policy: SealedPolicy): Promise<World> {
    // Nobody is late: who does not answer is dead.
    const limits = { recallMs: 3_600_000 };
    const hub = new Hub({ runId: RUN, nowMs: () => 0, sha256, limits });
    await hub.policy(policy.file);
    return new World(policy, hub);
  }

  get passes(): number {
    return this.askedPasses + this.shims.reduce((sum, { passes }) => sum + passes, 0);
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'ask') this.#ask(step.tool);
    else {
      const one = this.shims[step.shim];
      if (one === undefined || one.isGone) return;
      if (step.do === 'call') one.call(step.tool);
      else if (step.do === 'toHub') one.deliverToHub();
      else if (step.do === 'toShim') one.deliverToShim();
      else if (step.do === 'giveBack') one.giveBack();
      else one.die();
    }
    await settled();
  }

  /** Everything arrives, and every call has its answer. */
  async calm(): Promise<void> {
    for (let turn = 0; ; turn++) {
      if (turn > 10_000) throw new Error('the frames never come to rest');
      await settled();
      const alive = this.shims.filter(({ isGone }) => !isGone);
      const moved = alive.map((one) => [one.deliverToHub(), one.deliverToShim()]);
      const isIdle = moved.flat().every((did) => !did);
      if (isIdle && this.#asking === 0 && alive.every(({ isWaiting }) => !isWaiting)) return;
    }
  }

  /** All who live call until they are refused. */
  async exhaust(): Promise<void> {
    for (const one of this.shims) {
      while (!one.isGone) {
        const before = one.refusals.length;
        one.call('read');
        await this.calm();
        if (one.refusals.length > before) break;
        if (this.passes > 1_000) throw new Error('calls pass without an end');
      }
    }
  }

  #ask(tool_name: string): void {
    this.#asking++;
    const answer = this.hub.evaluateRequest(requestOf(this.#policy, { tool_name }));
    void Promise.resolve(answer).then((given) => {
      this.#asking--;
      if ('decision' in given && given.decision === 'forward') this.askedPasses++;
    });
  }
}

function unanswered({ shims }: World): readonly string[] {
  return shims.flatMap(({ refusals }) => refusals).filter((text) => !text.includes('BUDGET'));
}

describe('leased calls of a budget', () => {
  it('are exactly as many as the budget has, whatever the order of calls, frames and returns', async () => {
    const limit = fc.nat({ max: 60 });
    await fc.assert(
      fc.asyncProperty(limit, fc.array(peaceful, { maxLength: 80 }), async (limit_calls, steps) => {
        const world = await World.open(await policyOf([budget('all', { limit_calls })]));
        for (const step of steps) {
          await world.take(step);
          expect(world.passes).toBeLessThanOrEqual(limit_calls);
        }
        await world.calm();
        await world.exhaust();
        expect(world.passes).toBe(limit_calls);
        expect(unanswered(world)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('are never more than the budget has, whoever dies', async () => {
    const limit = fc.integer({ min: 1, max: 60 });
    await fc.assert(
      fc.asyncProperty(limit, fc.array(deadly, { maxLength: 80 }), async (units, steps) => {
        const limits = { limit_cost_units: 3 * units, cost_units_per_call: 3 };
        const world = await World.open(await policyOf([budget('all', limits)]));
        for (const step of steps) await world.take(step);
        await world.calm();
        await world.exhaust();
        expect(world.passes).toBeLessThanOrEqual(units);
        expect(unanswered(world)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('of one tool are apart from those of the run', async () => {
    const limits = fc.record({ all: fc.nat({ max: 40 }), each: fc.nat({ max: 15 }) });
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(peaceful, { maxLength: 60 }),
        async ({ all, each }, steps) => {
          const rules = [
            budget('all', { limit_calls: all }),
            budget('each', { limit_calls: each, scope: 'tool' }),
          ];
          const world = await World.open(await policyOf(rules));
          for (const step of steps) await world.take(step);
          await world.calm();
          expect(world.passes).toBeLessThanOrEqual(Math.min(all, 2 * each));
          await world.exhaust();
          expect(world.passes).toBeLessThanOrEqual(Math.min(all, 2 * each));
          expect(unanswered(world)).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });
});
