// Prices as people write them, as what turns are priced by.
import { definedFields, type PricingFile } from '@subluminal/contracts';
import { completePrice, type Price } from '@subluminal/core/routing';

const MICROS_PER_CENT = 10_000;

export function pricesOf({
  prices,
  cost_source_default,
}: Pick<PricingFile, 'prices' | 'cost_source_default'>): readonly Price[] {
  return prices.map((price) =>
    completePrice({
      provider: price.provider,
      model: price.model,
      inputMicros: centMicros(price.input_cents_per_mtok),
      outputMicros: centMicros(price.output_cents_per_mtok),
      isEstimated: (price.cost_source ?? cost_source_default) === 'estimated',
      ...definedFields({
        endpointId: price.endpoint,
        cacheWriteMicros: optionalMicros(price.cache_write_cents_per_mtok),
        cacheWriteHourMicros: optionalMicros(price.cache_write_hour_cents_per_mtok),
        cacheReadMicros: optionalMicros(price.cache_read_cents_per_mtok),
      }),
    }),
  );
}

function centMicros(cents: number): number {
  return Math.round(cents * MICROS_PER_CENT);
}

function optionalMicros(cents: number | undefined): number | undefined {
  return cents === undefined ? undefined : centMicros(cents);
}
