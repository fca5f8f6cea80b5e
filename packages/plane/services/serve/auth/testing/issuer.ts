// An issuer of tokens on loopback, whose documents and keys a test can change.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface TestIssuer {
  readonly url: string;
  /** The path of each request. */
  readonly asked: string[];
  /** What is answered at a path. */
  readonly documents: Map<string, string | ((response: ServerResponse) => void)>;
  /** A key pair whose public half is in the set of keys. */
  addKey(kid: string, options?: KeyOptions): Promise<CryptoKey>;
  removeKey(kid: string): void;
  sign(claims: Claims, options?: SignOptions): Promise<string>;
  close(): Promise<void>;
}

interface KeyOptions {
  readonly alg?: string;
  readonly jwk?: Partial<JWK>;
  readonly isHidden?: boolean;
}

type Claims = { readonly [name: string]: unknown };

interface SignOptions {
  readonly key?: CryptoKey | Uint8Array;
  readonly header?: { readonly kid?: string; readonly [name: string]: unknown };
}

export async function startIssuer(): Promise<TestIssuer> {
  const asked: string[] = [];
  const documents: TestIssuer['documents'] = new Map();
  const keys: JWK[] = [];
  const pairs = new Map<string, CryptoKey>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    asked.push(path);
    const document = documents.get(path);
    if (typeof document === 'function') return document(response);
    if (document === undefined && path === '/jwks')
      return void response.end(JSON.stringify({ keys }));
    response.statusCode = document === undefined ? 404 : 200;
    response.end(document);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  documents.set(
    '/.well-known/oauth-authorization-server',
    JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }),
  );

  const issuer: TestIssuer = {
    url,
    asked,
    documents,
    async addKey(kid, { alg = 'ES256', jwk = {}, isHidden = false } = {}) {
      const pair = await generateKeyPair(alg, { extractable: true });
      pairs.set(kid, pair.privateKey);
      if (!isHidden)
        keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig', ...jwk });
      return pair.privateKey;
    },
    removeKey(kid) {
      keys.splice(keys.findIndex((key) => key.kid === kid) >>> 0, 1);
    },
    sign(claims, { key, header = {} } = {}) {
      const kid = header.kid ?? 'first';
      const used = key ?? pairs.get(kid);
      if (used === undefined) throw new Error(`no key ${kid}`);
      const now = Math.floor(Date.now() / 1_000);
      return new SignJWT({ iss: url, sub: 'ada', iat: now, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
        .sign(used);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await issuer.addKey('first');
  return issuer;
}
