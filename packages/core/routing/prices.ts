// What models cost. A price is found by the endpoint and the model, else by the provider and the model.
import type { Price, ProviderName } from './types.ts';

/** What a turn is priced by. */
export interface PricedTarget {
  readonly provider: ProviderName;
  readonly endpointId: string;
  readonly model: string;
}

export interface PriceBook {
  /** None when nobody knows the price: then a turn has no cost, and says so. */
  priceFor(target: PricedTarget): Price | undefined;
}

export function priceBook(prices: readonly Price[]): PriceBook {
  const known = new Map<string, Price>();
  for (const price of prices) {
    const { endpointId, provider, model } = price;
    const key =
      endpointId === undefined ? providerKey(provider, model) : endpointKey(endpointId, model);
    // The first of two that say the same holds.
    if (!known.has(key)) known.set(key, price);
  }
  return {
    priceFor: ({ provider, endpointId, model }) => {
      const undated = undatedModel(model);
      return (
        known.get(endpointKey(endpointId, model)) ??
        known.get(endpointKey(endpointId, undated)) ??
        known.get(providerKey(provider, model)) ??
        known.get(providerKey(provider, undated))
      );
    },
  };
}

function endpointKey(endpointId: string, model: string): string {
  return `endpoint ${endpointId} ${model}`;
}

function providerKey(provider: string, model: string): string {
  return `provider ${provider} ${model}`;
}

/** `claude-sonnet-4-6-20260101`, `gpt-4o-2024-08-06`, `claude-opus-4@20250514`, `…-latest`. */
const DATED = /(?:[-@]20\d{2}-?[01]\d-?[0-3]\d|-latest)$/;

export function undatedModel(model: string): string {
  return model.replace(DATED, '');
}

/** A price as people write it: cache prices may be left out. */
export type WrittenPrice = Pick<
  Price,
  'provider' | 'endpointId' | 'model' | 'inputMicros' | 'outputMicros'
> &
  Partial<
    Pick<Price, 'cacheWriteMicros' | 'cacheWriteHourMicros' | 'cacheReadMicros' | 'isEstimated'>
  >;

/** Anthropic charges for writing to its cache; for others a token that is cached costs what it costs. */
const ANTHROPIC_CACHE = { write: 1.25, writeHour: 2, read: 0.1 };
const PLAIN_CACHE = { write: 1, writeHour: 1, read: 1 };

/** Fills in the cache prices that were left out, by the provider's usual ratio to its input price. */
export function completePrice(price: WrittenPrice): Price {
  const ratios = price.provider === 'anthropic' ? ANTHROPIC_CACHE : PLAIN_CACHE;
  const part = (ratio: number) => Math.round(price.inputMicros * ratio);
  return {
    cacheWriteMicros: part(ratios.write),
    cacheWriteHourMicros: part(ratios.writeHour),
    cacheReadMicros: part(ratios.read),
    isEstimated: false,
    ...price,
  };
}
