// Asks for one page, follows what may be followed, and gives back its text.
import { harmless, quote, visible } from '@subluminal/core/visible';
import { errorAnswer, type OwnAnswer } from '@subluminal/plane/agent-run';
import {
  isFault,
  readAnswerBody,
  type Upstream,
  type UpstreamAnswer,
} from '@subluminal/plane/upstream';
import { htmlText } from '../../text/index.ts';
import type { PageGuard } from './page-guard.ts';

export interface PageQuestion {
  readonly url: string;
  /** Where to begin in a long text. */
  readonly offset: number;
  readonly signal: AbortSignal;
}

const REDIRECTS_MAX = 5;
const ANSWER_MS = 15_000;
const WHOLE_MS = 30_000;
const BODY_BYTES_MAX = 5_242_880;
const TEXT_LENGTH_MAX = 40_000;
const LINKS_MAX = 60;
const LINK_LENGTH_MAX = 500;
const TITLE_LENGTH_MAX = 300;
const SAMPLE_BYTES = 1_024;
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT = /^(?:text\/.+|application\/(?:json|xml|.+\+json|.+\+xml|yaml|x-ndjson))$/;
const HEADERS = {
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9',
  'user-agent': 'Mozilla/5.0 (compatible; Subluminal-Steward)',
};

export async function fetchPage(
  upstream: Upstream,
  guard: PageGuard,
  { url, offset, signal }: PageQuestion,
): Promise<OwnAnswer> {
  const ends = AbortSignal.any([signal, AbortSignal.timeout(WHOLE_MS)]);
  let at = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const problem = guard.problem(at);
    if (problem !== undefined) return errorAnswer(`${quote(at)} ${problem}.`);
    const call = { method: 'GET', url: at, headers: HEADERS, timeoutMs: ANSWER_MS } as const;
    const answer = await upstream.call({ ...call, signal: ends });
    if (isFault(answer)) return errorAnswer(`${quote(at)} was not read. ${answer.message}`);
    const to = redirectOf(answer, at);
    if (to === undefined) return readPage(answer, { url: at, offset });
    answer.body.destroy();
    if (!guard.mayFollow(new URL(at), to)) {
      return {
        text: `${quote(at)} leads to ${visible(to.href, LINK_LENGTH_MAX)}. Fetch that address if you need it.`,
      };
    }
    at = to.href;
  }
  return errorAnswer(`${quote(url)} leads in a circle.`);
}

function redirectOf({ status, headers }: UpstreamAnswer, from: string): URL | undefined {
  const { location } = headers;
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  return isRedirect && location && URL.canParse(location, from)
    ? new URL(location, from)
    : undefined;
}

interface PagePart {
  readonly url: string;
  readonly offset: number;
}

async function readPage(
  { status, headers, body }: UpstreamAnswer,
  part: PagePart,
): Promise<OwnAnswer> {
  const [type = '', ...parameters] = (headers['content-type'] ?? 'text/plain').split(';');
  const kind = type.trim().toLowerCase();
  if (!HTML.test(kind) && !TEXT.test(kind)) {
    body.destroy();
    return errorAnswer(`${quote(part.url)} is of the type ${quote(kind)}, which is not read.`);
  }
  const bytes = await readAnswerBody(body, BODY_BYTES_MAX);
  if (isFault(bytes)) return errorAnswer(`${quote(part.url)} was not read. ${bytes.message}`);
  const text = decoded(bytes, parameters.join(';'));
  const page = HTML.test(kind) ? htmlPage(text, part) : { lines: [], text, links: [] };
  const answer = pageText(page, part);
  if (status < 400) return { text: answer };
  return errorAnswer(`The server answered with status ${status}.\n${answer}`);
}

interface PageContent {
  readonly lines: readonly string[];
  readonly text: string;
  readonly links: readonly string[];
}

function htmlPage(html: string, { url }: PagePart): PageContent {
  const limits = { charsMax: BODY_BYTES_MAX, linksMax: LINKS_MAX, pageUrl: url };
  const { text, hiddenChars, links } = htmlText(html, limits);
  const [, title = ''] =
    /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html.slice(0, TEXT_LENGTH_MAX)) ?? [];
  const lines = [
    ...(title.trim() === '' ? [] : [`Title: ${visible(title.trim(), TITLE_LENGTH_MAX)}`]),
    ...(hiddenChars === 0
      ? []
      : [
          `[${hiddenChars} characters that a reader would not see are left out. Such text is often meant to mislead.]`,
        ]),
  ];
  return { lines, text, links };
}

function pageText({ lines, text, links }: PageContent, { url, offset }: PagePart): string {
  const shown = text.slice(offset, offset + TEXT_LENGTH_MAX);
  const end = offset + shown.length;
  const rest = end < text.length ? [`[characters ${offset} to ${end} of ${text.length}]`] : [];
  const list = links.map((link) => `- ${visible(link, LINK_LENGTH_MAX)}`);
  const linked = list.length === 0 ? [] : ['', 'Links:', ...list];
  const head = [`Address: ${harmless(url)}`, ...lines, ''];
  return [...head, shown, ...rest, ...linked].join('\n');
}

/** By the character set that the answer or the page names; what is not known is read as UTF-8. */
function decoded(bytes: Buffer, parameters: string): string {
  const sample = bytes.subarray(0, SAMPLE_BYTES).toString('latin1');
  const [, named] =
    /charset\s*=\s*["']?([\w-]{1,40})/i.exec(parameters) ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(sample) ??
    [];
  try {
    return new TextDecoder(named ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder('utf-8').decode(bytes);
  }
}
