// What an endpoint of the ledger's API is, and how one is written down.
import { type Parsed, parserFor } from '../shape/check.ts';
import { closed, type Infer, type ObjectShape, type VariantShape } from '../shape/shape.ts';

/** The parameters of an endpoint: none that is not here, and each at most once unless it is an array. */
export interface ApiQuery<T> {
  readonly shape: ObjectShape;
  readonly parse: (value: unknown) => Parsed<T>;
}

/** The body of a request: a closed object. */
export interface ApiInput<T> extends ApiQuery<T> {
  readonly bytesMax: number;
}

export interface ApiEndpoint {
  /** Names in braces are part of the path, percent-encoded. */
  readonly path: string;
  readonly query: ApiQuery<unknown>;
  /** `lines` is one `answer` per line; `stream` is one per WebSocket message. */
  readonly kind: 'json' | 'lines' | 'stream';
  readonly answer: ObjectShape | VariantShape;
  /** JSON lines that are sent along, by POST. */
  readonly body?: { readonly bytesMax: number; readonly linesMax: number };
  /** One JSON object that is sent along, by POST; an endpoint with neither is asked by GET. */
  readonly input?: ApiInput<unknown>;
  /**
   * Who may ask; without it a viewer may GET, and POST is for the owner, outside of governed runs. `token` is the same
   * with the bearer token alone, `producer` is the owner also inside a run.
   */
  readonly access?: 'anyone' | 'viewer' | 'producer' | 'token';
}

/* @__NO_SIDE_EFFECTS__ */
function query<S extends ObjectShape>(shape: S): ApiQuery<Infer<S>> {
  return { shape, parse: parserFor<Infer<S>>(shape) };
}

/** What a body may come to where nothing large is in it. */
const INPUT_BYTES_MAX = 65_536;

/* @__NO_SIDE_EFFECTS__ */
export function input<S extends ObjectShape>(
  shape: S,
  bytesMax = INPUT_BYTES_MAX,
): ApiInput<Infer<S>> {
  return { bytesMax, shape, parse: parserFor<Infer<S>>(shape) };
}

export const NOTHING = closed({});

/** Answered with one JSON object, and without parameters. The types of question and answer come from their shapes. */
/* @__NO_SIDE_EFFECTS__ */
export function endpoint<A extends ApiEndpoint['answer']>(path: string, answer: A) {
  return search(path, answer, NOTHING);
}

/** The same with parameters. */
/* @__NO_SIDE_EFFECTS__ */
export function search<A extends ApiEndpoint['answer'], Q extends ObjectShape>(
  path: string,
  answer: A,
  parameters: Q,
) {
  return { path: `/api/v1/${path}`, query: query(parameters), kind: 'json', answer } as const;
}
