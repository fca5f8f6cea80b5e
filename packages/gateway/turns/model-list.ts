// The models that a client may name, in the shape of its wire.
import type { JsonObject } from '@subluminal/contracts';
import type { Endpoint, Pool } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';

export interface ListedModel {
  readonly id: string;
  readonly ownedBy: string;
}

/** The models of the pools, each once, by their names. */
export function poolModels(
  pools: Iterable<Pool>,
  endpoint: (id: string) => Endpoint | undefined,
): readonly ListedModel[] {
  const models = new Map<string, ListedModel>();
  for (const { members } of pools) {
    for (const { model, endpointId } of members) {
      const ownedBy = endpoint(endpointId)?.provider;
      if (ownedBy !== undefined) models.set(model, { id: model, ownedBy });
    }
  }
  return [...models.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Nobody knows when a model was made: the time is the earliest there is. */
const CREATED = '1970-01-01T00:00:00Z';

export function modelEntry(wire: WireName, { id, ownedBy }: ListedModel): JsonObject {
  return wire === 'anthropic_messages'
    ? { type: 'model', id, display_name: id, created_at: CREATED }
    : { id, object: 'model', created: 0, owned_by: ownedBy };
}

export function modelList(wire: WireName, models: readonly ListedModel[]): JsonObject {
  const data = models.map((model) => modelEntry(wire, model));
  if (wire !== 'anthropic_messages') return { object: 'list', data };
  return {
    data,
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}
