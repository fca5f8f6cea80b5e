// Asks a search engine that the user has configured. Each has its own API; what is left of an answer is the same.
import { type Failure, type IntegrationsFile, isFailure, isObject } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { OwnAnswer } from '@subluminal/plane/agent-run';
import { decodeUtf8, parseJson } from '@subluminal/plane/os';
import { isFault, readAnswerBody, type Upstream } from '@subluminal/plane/upstream';

export type SearchSettings = NonNullable<IntegrationsFile['web']['search']>;

export interface SearchEngine {
  readonly settings: SearchSettings;
  /** Fetched for each question and kept nowhere; undefined where the engine wants none. */
  readonly key: () => Promise<string | undefined | Failure>;
}

interface SearchProvider {
  /** Undefined where the settings must name it. */
  readonly url: string | undefined;
  readonly path: string;
  readonly parameters: { readonly [name: string]: string };
  headers(key: string): { readonly [name: string]: string };
  /** Where the results are in the answer, and what their text is called. */
  results(answer: Record<string, unknown>): unknown;
  readonly textField: string;
}

const ANSWER_MS = 15_000;
const WHOLE_MS = 20_000;
const BODY_BYTES_MAX = 2_097_152;
const RESULTS_MAX = 10;
const TITLE_LENGTH_MAX = 200;
const URL_LENGTH_MAX = 500;
const TEXT_LENGTH_MAX = 500;

const PROVIDERS: { readonly [name in SearchSettings['provider']]: SearchProvider } = {
  brave: {
    url: 'https://api.search.brave.com',
    path: '/res/v1/web/search',
    parameters: { count: String(RESULTS_MAX), text_decorations: 'false' },
    headers: (key) => ({ 'x-subscription-token': key }),
    results: ({ web }) => (isObject(web) ? web['results'] : undefined),
    textField: 'description',
  },
  searxng: {
    url: undefined,
    path: '/search',
    parameters: { format: 'json' },
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    results: ({ results }) => results,
    textField: 'content',
  },
};

export async function searchWeb(
  upstream: Upstream,
  { settings, key }: SearchEngine,
  { query, signal }: { readonly query: string; readonly signal: AbortSignal },
): Promise<OwnAnswer> {
  const provider = PROVIDERS[settings.provider];
  const base = settings.url ?? provider.url;
  if (base === undefined || !URL.canParse(base))
    return refused('It has no address. The user must set it.');
  const secret = await key();
  if (isFailure(secret)) return refused('Its key cannot be had. The user must set it.');
  const url = new URL(base.replace(/\/+$/, '') + provider.path);
  for (const [name, value] of Object.entries(provider.parameters))
    url.searchParams.set(name, value);
  url.searchParams.set('q', query);
  const answer = await upstream.call({
    method: 'GET',
    url: url.href,
    headers: { accept: 'application/json', ...(secret && provider.headers(secret)) },
    timeoutMs: ANSWER_MS,
    signal: AbortSignal.any([signal, AbortSignal.timeout(WHOLE_MS)]),
  });
  if (isFault(answer)) return refused(answer.message);
  const body = await readAnswerBody(answer.body, BODY_BYTES_MAX);
  if (isFault(body)) return refused(body.message);
  if (answer.status !== 200) return refused(`It answered with status ${answer.status}.`);
  const found = parseJson(decodeUtf8(body) ?? '');
  const results = isObject(found) ? provider.results(found) : undefined;
  if (!Array.isArray(results)) return refused('Its answer is not what was expected.');
  const lines = results
    .slice(0, RESULTS_MAX)
    .flatMap((one) => resultLines(one, provider.textField));
  return { text: lines.length === 0 ? 'Nothing was found.' : lines.join('\n') };
}

function refused(why: string): OwnAnswer {
  return { text: `The search engine was not asked, or did not answer. ${why}`, isError: true };
}

function resultLines(result: unknown, textField: string): readonly string[] {
  if (!isObject(result)) return [];
  const { title, url } = result;
  const text = result[textField];
  if (typeof url !== 'string' || !/^https?:/i.test(url)) return [];
  return [
    `- ${visible(typeof title === 'string' ? title : '', TITLE_LENGTH_MAX)}`,
    `  ${visible(url, URL_LENGTH_MAX)}`,
    ...(typeof text === 'string' && text !== '' ? [`  ${visible(text, TEXT_LENGTH_MAX)}`] : []),
  ];
}
