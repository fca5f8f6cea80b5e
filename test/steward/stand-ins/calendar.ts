// A CalDAV server for tests: one account with one calendar of events and one of tasks, with ETags.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CalendarStandIn {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The files of the calendar, by name. */
  readonly files: Map<string, string>;
  /** What was asked, as `METHOD path`. */
  readonly requests: string[];
  /** Runs before each request is answered; it may cut the line or answer itself, and then gives true. */
  onRequest: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  stop(): Promise<void>;
}

const HOME = '/dav/calendars/ada/';
const CALENDAR = `${HOME}home/`;
const TASKS = `${HOME}tasks/`;

export async function startCalendar(password = 'correct horse battery'): Promise<CalendarStandIn> {
  const user = 'ada';
  const files = new Map<string, string>();
  const requests: string[] = [];
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const server = createServer((request, response) => {
    void (async () => {
      requests.push(`${request.method} ${request.url}`);
      if (standIn.onRequest?.(request, response) === true) return;
      if (request.headers.authorization !== expected) return void response.writeHead(401).end();
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      answer(files, { request, body: Buffer.concat(parts).toString() }, response);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const standIn: CalendarStandIn = {
    url: `http://127.0.0.1:${port}/`,
    user,
    password,
    files,
    requests,
    onRequest: undefined,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return standIn;
}

type Asked = { readonly request: IncomingMessage; readonly body: string };

function answer(files: Map<string, string>, { request, body }: Asked, response: ServerResponse) {
  const { method, url = '/' } = request;
  if (url === '/.well-known/caldav') {
    response.writeHead(301, { location: '/dav/' }).end();
  } else if (method === 'PROPFIND') {
    multistatus(response, propfind(url));
  } else if (method === 'REPORT' && url === CALENDAR) {
    multistatus(response, report(files, body));
  } else if (url.startsWith(CALENDAR) && url.length > CALENDAR.length) {
    change(files, { request, body }, response);
  } else {
    response.writeHead(404).end();
  }
}

function change(files: Map<string, string>, { request, body }: Asked, response: ServerResponse) {
  const { method, url = '', headers } = request;
  const name = decodeURIComponent(url.slice(CALENDAR.length));
  const text = files.get(name);
  const match = headers['if-match'];
  const isStale = match !== undefined && (text === undefined || match !== etag(text));
  if (isStale || (headers['if-none-match'] === '*' && text !== undefined)) {
    response.writeHead(412).end();
  } else if (method === 'PUT') {
    files.set(name, body);
    response.writeHead(text === undefined ? 201 : 204, { etag: etag(body) }).end();
  } else if (method === 'GET' && text !== undefined) {
    response.writeHead(200, { etag: etag(text), 'content-type': 'text/calendar' }).end(text);
  } else if (method === 'DELETE') {
    response.writeHead(files.delete(name) ? 204 : 404).end();
  } else {
    response.writeHead(404).end();
  }
}

function etag(text: string): string {
  return `"${createHash('sha256').update(text).digest('hex')}"`;
}

function propfind(url: string): readonly string[] {
  switch (url) {
    case '/dav/':
      return [
        item(
          url,
          '<d:current-user-principal><d:href>/dav/principals/ada/</d:href></d:current-user-principal>',
        ),
      ];
    case '/dav/principals/ada/':
      return [item(url, `<c:calendar-home-set><d:href>${HOME}</d:href></c:calendar-home-set>`)];
    case HOME:
      return [
        item(HOME, '<d:resourcetype><d:collection/></d:resourcetype>'),
        item(TASKS, collection('Tasks', 'VTODO')),
        item(CALENDAR, collection('Home', 'VEVENT')),
      ];
    default:
      return [item(url, '<d:supported-report-set/>')];
  }
}

function collection(name: string, component: string): string {
  return `<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>${name}</d:displayname><c:supported-calendar-component-set><c:comp name="${component}"/></c:supported-calendar-component-set>`;
}

function report(files: Map<string, string>, body: string): readonly string[] {
  const isQuery = body.includes('calendar-query');
  const names = isQuery
    ? [...files.keys()]
    : [...body.matchAll(/<d:href>([^<]+)<\/d:href>/g)].map(([, href = '']) =>
        decodeURIComponent(href.slice(CALENDAR.length)),
      );
  return names.map((name) => {
    const text = files.get(name);
    const href = CALENDAR + encodeURIComponent(name);
    if (text === undefined) {
      return `<d:response><d:href>${href}</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>`;
    }
    const data = isQuery ? '' : `<c:calendar-data>${escaped(text)}</c:calendar-data>`;
    return item(href, `<d:getetag>${escaped(etag(text))}</d:getetag>${data}`);
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function item(href: string, props: string): string {
  return `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${props}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
}

function multistatus(response: ServerResponse, items: readonly string[]): void {
  const text = `<?xml version="1.0" encoding="utf-8"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${items.join('')}</d:multistatus>`;
  response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' }).end(text);
}
