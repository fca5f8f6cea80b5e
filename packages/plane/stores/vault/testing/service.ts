// Stand-ins for the services that secrets come from, on this machine: real HTTP, and answers of the
// same shape as the real ones give.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface Stand {
  readonly address: string;
  /** Of every request, what was asked for and how. */
  readonly asked: readonly { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  readonly close: () => Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly json: unknown;
}

type Answer = (url: URL, headers: IncomingMessage['headers']) => Reply | undefined;

/** Undefined is no answer at all: the request stays open. */
export async function stand(answer: Answer, server: Server = createServer()): Promise<Stand> {
  const asked: { url: string; headers: IncomingMessage['headers'] }[] = [];
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', headers } = request;
    asked.push({ url, headers });
    const reply = answer(new URL(url, 'http://stand'), headers);
    if (reply === undefined) return;
    response.writeHead(reply.status, { 'content-type': 'application/json', location: '/moved' });
    response.end(JSON.stringify(reply.json));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = server.address();
  if (place === null || typeof place === 'string') throw new Error('it does not listen');
  return {
    address: `http://127.0.0.1:${place.port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A HashiCorp Vault with one secret of the key/value engine, version 2. */
export function hashicorp(token: string, path: string, data: object): Answer {
  const metadata = {
    created_time: '2026-11-16T05:00:00.000000000Z',
    custom_metadata: null,
    deletion_time: '',
    destroyed: false,
    version: 3,
  };
  const around = {
    request_id: '3f2a5b0c-1d4e-4f6a-8b7c-9d0e1f2a3b4c',
    lease_id: '',
    renewable: false,
    lease_duration: 0,
  };
  const after = { wrap_info: null, warnings: null, auth: null, mount_type: 'kv' };
  return ({ pathname }, headers) => {
    if (headers['x-vault-token'] !== token) {
      return { status: 403, json: { errors: ['permission denied'] } };
    }
    if (pathname === '/v1/secret/data/deleted') {
      const gone = { ...metadata, deletion_time: '2026-11-16T05:30:00.000000000Z' };
      return { status: 404, json: { ...around, data: { data: null, metadata: gone }, ...after } };
    }
    if (pathname !== path) return { status: 404, json: { errors: [] } };
    return { status: 200, json: { ...around, data: { data, metadata }, ...after } };
  };
}

export const VAULT_ID = 'hfnjvi6aymbsnfc2xeeoheizda';
export const ITEM_ID = '2fcbqwe9ndg175zg2dzwftvkpa';
const TWIN_IDS = ['aaaaaaaaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbbbbbbbb'];

/** A 1Password Connect server with one vault: one item of its own name, and two of one name. */
export function connect(token: string, fields: readonly object[]): Answer {
  const base = `/v1/vaults/${VAULT_ID}`;
  const title = (name: string, id: string) => ({
    id,
    title: name,
    vault: { id: VAULT_ID, name: 'Team' },
    category: 'API_CREDENTIAL',
    version: 2,
  });
  const items = [title('GitHub "bot"', ITEM_ID), ...TWIN_IDS.map((id) => title('Twins', id))];
  return ({ pathname, searchParams }, headers) => {
    if (headers.authorization !== `Bearer ${token}`) {
      return { status: 401, json: { status: 401, message: 'Invalid bearer token' } };
    }
    // The filter, as SCIM writes it: name eq "Team".
    const [, quoted = '""'] = / eq (".*")$/.exec(searchParams.get('filter') ?? '') ?? [];
    const wanted: unknown = JSON.parse(quoted);
    if (pathname === '/v1/vaults') {
      const all = [{ id: VAULT_ID, name: 'Team', items: items.length, type: 'USER_CREATED' }];
      return { status: 200, json: all.filter(({ name }) => name === wanted) };
    }
    if (pathname === `${base}/items`) {
      return { status: 200, json: items.filter((item) => item.title === wanted) };
    }
    const item = items.find(({ id }) => pathname === `${base}/items/${id}`);
    return item === undefined
      ? { status: 404, json: { status: 404, message: 'Item not found' } }
      : { status: 200, json: { ...item, sections: [{ id: 'add', label: 'api' }], fields } };
  };
}
