// Embeddings by an endpoint that speaks as OpenAI's does: `POST BASE/embeddings`. What is sent was kept in the memory, and
// therefore holds no secret.
import { type Failure, isFailure, isObject, tableFailure } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import { isFault, readAnswerBody, type Upstream } from '@subluminal/plane/upstream';
import type { Embedder } from './types.ts';

export interface ProviderEmbedderOptions {
  /** With its version, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** None for a model on this machine. */
  readonly apiKey?: string;
  readonly upstream: Upstream;
}

const TIMEOUT_MS = 60_000;
const BYTES_MAX = 32 * 1024 * 1024;
const DIMENSIONS_MAX = 4_096;

/** Asks once, to learn how long the vectors are. The upstream stays open: it is the caller's. */
export async function openProviderEmbedder(
  options: ProviderEmbedderOptions,
): Promise<Embedder | Failure> {
  const embed = (texts: readonly string[], signal?: AbortSignal) => ask(options, texts, signal);
  const first = await embed(['length']);
  if (isFailure(first)) return first;
  const dimensions = first[0]?.length ?? 0;
  if (dimensions === 0 || dimensions > DIMENSIONS_MAX)
    return failed(`Vectors have 1 to ${DIMENSIONS_MAX} dimensions, these have ${dimensions}.`);
  return { name: options.model, dimensions, embed, close: () => Promise.resolve() };
}

async function ask(
  { baseUrl, model, apiKey, upstream }: ProviderEmbedderOptions,
  texts: readonly string[],
  signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<readonly Float32Array[] | Failure> {
  const body = Buffer.from(JSON.stringify({ model, input: texts, encoding_format: 'float' }));
  const answer = await upstream.call({
    method: 'POST',
    url: `${baseUrl.replace(/\/+$/, '')}/embeddings`,
    headers: {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: [body],
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  if (isFault(answer)) return failed(answer.message);
  const bytes = await readAnswerBody(answer.body, BYTES_MAX);
  if (isFault(bytes)) return failed(bytes.message);
  if (answer.status !== 200) return failed(`The provider answers with status ${answer.status}.`);
  return vectorsIn(parseJson(bytes.toString('utf8')), texts.length);
}

/** In the order of their `index`. */
function vectorsIn(value: unknown, count: number): readonly Float32Array[] | Failure {
  const data = isObject(value) ? value['data'] : undefined;
  const vectors = Array.from({ length: count }, (_, place) =>
    Array.isArray(data)
      ? vectorOf(data.find((one) => isObject(one) && one['index'] === place))
      : undefined,
  ).filter((one) => one !== undefined);
  return vectors.length === count ? vectors : failed('The provider answers something else.');
}

function vectorOf(item: unknown): Float32Array | undefined {
  const numbers = isObject(item) ? item['embedding'] : undefined;
  if (!Array.isArray(numbers) || numbers.length > DIMENSIONS_MAX) return undefined;
  const isWhole = numbers.every((one) => typeof one === 'number' && Number.isFinite(one));
  return isWhole ? Float32Array.from(numbers) : undefined;
}

function failed(detail: string): Failure {
  return tableFailure('SUB_STEWARD_EMBEDDINGS', detail);
}
