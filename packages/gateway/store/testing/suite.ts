// What every engine of the store must do: one suite, run on each.
import { afterEach, beforeEach, describe } from 'vitest';
import type { GatewayStore } from '../types.ts';
import { budgetSuite } from './budget-suite.ts';
import { coordinationSuite } from './coordination-suite.ts';
import { peopleSuite } from './people-suite.ts';
import { recordSuite } from './record-suite.ts';

export interface StoreUnderTest {
  readonly store: GatewayStore;
  /** Runs SQL beside the store, as somebody with a shell would; gives the rows. */
  sql(text: string): Promise<readonly { readonly [column: string]: unknown }[]>;
  /** Ends the store and what it needs. */
  end(): Promise<void>;
}

/** The store of the test that runs. */
export interface Tested {
  readonly store: GatewayStore;
  readonly sql: StoreUnderTest['sql'];
}

export function describeStore(engine: string, start: () => Promise<StoreUnderTest>): void {
  describe(`the store on ${engine}`, () => {
    let running: StoreUnderTest | undefined;
    const started = (): StoreUnderTest => {
      if (running === undefined) throw new Error('The store did not start.');
      return running;
    };
    const tested: Tested = {
      get store() {
        return started().store;
      },
      sql: (text) => started().sql(text),
    };
    beforeEach(async () => {
      running = await start();
    });
    afterEach(async () => {
      await running?.end();
      running = undefined;
    });
    peopleSuite(tested);
    budgetSuite(tested);
    recordSuite(tested);
    coordinationSuite(tested);
  });
}
