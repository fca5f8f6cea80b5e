import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { isFailure, isObject } from '@subluminal/contracts';
import { openUpstream, type Upstream } from '@subluminal/plane/upstream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLocalEmbedder } from './local-embedder.ts';
import { openProviderEmbedder } from './provider-embedder.ts';

const similarity = (one: Float32Array | undefined, other: Float32Array | undefined) =>
  [...(one ?? [])].reduce((sum, value, place) => sum + value * (other?.[place] ?? 0), 0);

describe('a model on this machine', () => {
  test('puts texts of one meaning closer together than others', async () => {
    const embedder = await openLocalEmbedder();
    if (embedder === undefined || isFailure(embedder)) throw new Error('The model is not there.');
    const texts = ['The automobile stands in the garage.', 'Where is my car?', 'The soup is cold.'];
    const vectors = await embedder.embed(texts);
    if (isFailure(vectors)) throw new Error(vectors.message);
    const [car, question, soup] = vectors;
    expect(car).toHaveLength(embedder.dimensions);
    expect(similarity(car, question)).toBeGreaterThan(similarity(car, soup) + 0.2);
    const aborted = await embedder.embed(['late'], AbortSignal.abort());
    expect(isFailure(aborted)).toBe(true);
    await embedder.close();
    expect(await embedder.embed(['after the end'])).toMatchObject({
      code: 'SUB_STEWARD_EMBEDDINGS',
    });
  });

  test('is left out where its packages are not installed', async () => {
    expect(await openLocalEmbedder('/')).toBeUndefined();
  });
});

describe('a provider', () => {
  let server: Server;
  let upstream: Upstream;
  let asked: { readonly body: unknown; readonly key: string | undefined }[];
  let answer: (texts: readonly string[]) => { readonly status?: number; readonly body: unknown };
  let baseUrl: string;
  beforeEach(async () => {
    asked = [];
    answer = (texts) => ({
      body: {
        data: texts.map((text, index) => ({ index, embedding: [text.length, 1] })).toReversed(),
      },
    });
    server = createServer((request, response) => {
      void json(request).then((body) => {
        asked.push({ body, key: request.headers.authorization });
        const texts =
          isObject(body) && Array.isArray(body['input']) ? body['input'].map(String) : [];
        const { status = 200, body: said } = answer(texts);
        response
          .writeHead(request.url === '/v1/embeddings' ? status : 404)
          .end(JSON.stringify(said));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    baseUrl = `http://127.0.0.1:${port}/v1/`;
    upstream = openUpstream();
  });
  afterEach(async () => {
    await upstream.close();
    server.close();
  });

  test('is asked with its key, and its vectors come in the order of the texts', async () => {
    const embedder = await openProviderEmbedder({ baseUrl, model: 'm', apiKey: 'key', upstream });
    if (isFailure(embedder)) throw new Error(embedder.message);
    expect(embedder).toMatchObject({ name: 'm', dimensions: 2 });
    const vectors = await embedder.embed(['a', 'four']);
    expect(vectors).toEqual([Float32Array.of(1, 1), Float32Array.of(4, 1)]);
    expect(asked.at(-1)).toEqual({
      body: { model: 'm', input: ['a', 'four'], encoding_format: 'float' },
      key: 'Bearer key',
    });
  });

  test.each([
    ['an error', { status: 500, body: { error: 'down' } }, 'status 500'],
    ['too few vectors', { body: { data: [] } }, 'something else'],
    ['no numbers', { body: { data: [{ index: 0, embedding: ['1'] }] } }, 'something else'],
    ['no vectors', { body: 'hello' }, 'something else'],
  ])('is not believed when it answers %s', async (_what, said, why) => {
    answer = () => said;
    const embedder = await openProviderEmbedder({ baseUrl, model: 'm', upstream });
    expect(embedder).toMatchObject({ code: 'SUB_STEWARD_EMBEDDINGS' });
    expect(isFailure(embedder) && embedder.message).toContain(why);
  });
});
