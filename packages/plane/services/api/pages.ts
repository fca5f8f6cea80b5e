// The files of the page, built before: read into memory once, answered by their exact paths alone. The ledger daemon
// and the gateway serve the same ones. They hold nothing that is secret; who they may be sent to is decided before.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import { readRegularFile } from '../../os/index.ts';

export interface Pages {
  /** Answers a request whose `Host` was found right. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly cacheControl: string;
  readonly bytes: Buffer;
  /** Made when it is first asked for. */
  zipped: Promise<Buffer> | undefined;
}

type PageFiles = ReadonlyMap<string, PageFile>;

/** A file of another type is not served. */
const TYPES: { readonly [extension: string]: string } = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
const ZIPPED_TYPE = /^text\/|^application\/json|^image\/svg/;
const ZIPPED_BYTES_MIN = 1_024;
const INDEX = '/index.html';
const FILES_MAX = 500;
const DEPTH_MAX = 4;
const BYTES_MAX = 16_777_216;

/** Vite names a file in this folder by the hash of what is in it. */
const HASHED = /^\/assets\/.+-[\w-]{8}\.\w+$/;
const FOREVER = 'public, max-age=31536000, immutable';

/** The page has its own addresses (`/runs/RUN`); of a name with a dot only the first part tells a file. */
const APP_PATH = /^\/(?!(?:api|assets)(?:\/|$))[^./]*(?:\/|$)/;

/** No script, style, image or connection but our own, and no text that becomes markup. */
const PAGE_HEADERS: { readonly [name: string]: string } = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Whether this folder has a built page. Nothing of it is read before somebody asks for it. */
export function hasPages(folder: string): boolean {
  return readRegularFile(join(folder, INDEX), { bytesMax: BYTES_MAX }).kind === 'read';
}

export function pagesIn(folder: string): Pages {
  let files: PageFiles | Failure | undefined;
  return {
    answer: async (request, response) => {
      files ??= readPages(folder);
      if (isFailure(files)) return sendText(response, 503, `${files.message} ${files.fix}`);
      await answerFrom(files, request, response);
    },
  };
}

/** All at once, so that the files that are served belong together. */
export function readPages(folder: string): PageFiles | Failure {
  const files = new Map<string, PageFile>();
  let bytesLeft = BYTES_MAX;
  const visit = (path: string, depth: number): Failure | undefined => {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory() && depth < DEPTH_MAX) {
        const failed = visit(inner, depth + 1);
        if (failed !== undefined) return failed;
      }
      const type = TYPES[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const read = readRegularFile(join(folder, inner), { bytesMax: bytesLeft, noFollow: true });
      if (read.kind !== 'read' || files.size >= FILES_MAX) return unreadable(inner);
      bytesLeft -= read.bytes.length;
      files.set(inner, pageFile(inner, type, read.bytes));
    }
    return undefined;
  };
  try {
    return visit('', 0) ?? (files.has(INDEX) ? files : unreadable(INDEX));
  } catch {
    return unreadable('');
  }
}

function unreadable(path: string): Failure {
  return tableFailure('SUB_UI_PAGES', path === '' ? undefined : `See ${path}.`);
}

function pageFile(path: string, type: string, bytes: Buffer): PageFile {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const cacheControl = HASHED.test(path) ? FOREVER : 'no-cache';
  return { type, bytes, etag: `W/"${digest}"`, cacheControl, zipped: undefined };
}

async function answerFrom(
  files: PageFiles,
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return sendText(response, 405, 'This address takes GET only.');
  }
  const [path = ''] = url.split('?', 1);
  const file = files.get(path) ?? (APP_PATH.test(path) ? files.get(INDEX) : undefined);
  if (file === undefined) return sendText(response, 404, 'There is nothing at this address.');
  const { etag, type, cacheControl } = file;
  const known = { ...PAGE_HEADERS, etag, 'cache-control': cacheControl, vary: 'accept-encoding' };
  if (headers['if-none-match']?.split(/ *, */).includes(etag) === true) {
    response.writeHead(304, known).end();
    return;
  }
  const isZipped = mayZip(file) && takesGzip(headers['accept-encoding']);
  const body = isZipped ? await zippedBytes(file) : file.bytes;
  response.writeHead(200, {
    ...known,
    'content-type': type,
    'content-length': String(body.length),
    ...(isZipped && { 'content-encoding': 'gzip' }),
  });
  response.end(method === 'HEAD' ? undefined : body);
}

function mayZip({ type, bytes }: PageFile): boolean {
  return ZIPPED_TYPE.test(type) && bytes.length >= ZIPPED_BYTES_MIN;
}

function takesGzip(accepted = ''): boolean {
  return /(?:^|,) *gzip *(?:$|,|; *q=(?!0(?:\.0*)? *(?:,|$)))/i.test(accepted);
}

const zip = promisify(gzip);

function zippedBytes(file: PageFile): Promise<Buffer> {
  file.zipped ??= zip(file.bytes, { level: 9 });
  return file.zipped;
}

function sendText(response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(`${text}\n`, 'utf8');
  response.writeHead(status, {
    ...PAGE_HEADERS,
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(body.length),
  });
  response.end(body);
}
