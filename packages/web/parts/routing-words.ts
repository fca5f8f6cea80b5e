// What is read out of the JSON in the records of a gateway. It may hold anything.

/** Where an attempt went. */
export interface RouteMember {
  readonly endpointId: string;
  readonly provider: string;
  readonly model: string;
  readonly isPrivate: boolean;
}

export function routeMember(json: unknown): RouteMember {
  const { endpoint_id, provider, model, private: isPrivate } = fieldsOf(json);
  return {
    endpointId: textOf(endpoint_id),
    provider: textOf(provider),
    model: textOf(model),
    isPrivate: isPrivate === true,
  };
}

/** What was decided about a turn, in a word: `route`, `block`. */
export function decidedAction(decision: unknown): string {
  return textOf(fieldsOf(decision)['primary_action']);
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
