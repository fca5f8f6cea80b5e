// The list [[prices]] of config.toml: what the models of the user cost, where the list prices are wrong or missing.
import { MODEL_PRICES, type ModelPrice } from '@subluminal/contracts';
import type { ConfigFault } from './table-reader.ts';

/** Reads what stands under `prices`. The prices hold only where there is no fault. */
export function readPrices(value: unknown): {
  readonly prices: readonly ModelPrice[];
  readonly faults: readonly ConfigFault[];
} {
  const read = MODEL_PRICES.parse({ prices: value });
  if (read.ok) return { prices: read.value.prices, faults: [] };
  const faults = read.mismatches.map(({ path, expected, problem, choices }): ConfigFault => {
    const name = path.join('.');
    const known = choices ?? [];
    const code = problem === 'unknown' ? 'SUB_CONFIG_KEY' : 'SUB_CONFIG_VALUE';
    const message =
      problem === 'unknown' ? `unknown key \`${name}\`` : `\`${name}\`: expected ${expected}`;
    const fix = 'Write [[prices]], and provider, model and what a million tokens cost below it.';
    const word = problem === 'unknown' ? String(path.at(-1) ?? '') : '';
    return { path: path.map(String), code, message, fix, word, known };
  });
  return { prices: [], faults };
}
