// What a turn used and cost, in words.

export interface UsedTokens {
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  readonly cost_micros: number | null;
}

const MICROS = 1_000_000;

/** `12,345 in, 678 out, $0.0123`; empty where nothing was counted. */
export function usageText({ tokens_in, tokens_out, cost_micros }: UsedTokens): string {
  if (tokens_in === null || tokens_out === null) return '';
  const tokens = `${countText(tokens_in)} in, ${countText(tokens_out)} out`;
  return cost_micros === null ? tokens : `${tokens}, ${costText(cost_micros)}`;
}

/** Most turns cost less than a cent. */
export function costText(micros: number): string {
  const usd = micros / MICROS;
  return `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}
