// An answer that comes whole.
import type { Readable } from 'node:stream';
import { fault, faultFrom, type UpstreamFault } from '../upstream/fault.ts';

export function readAnswerBody(body: Readable, bytesMax: number): Promise<Buffer | UpstreamFault> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    body.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bytesMax) return void chunks.push(chunk);
      resolve(fault('malformed', `The answer of the upstream is larger than ${bytesMax} bytes.`));
      body.destroy();
    });
    body.on('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    });
    body.on('error', (cause) => resolve(faultFrom(cause)));
    body.on('close', () => {
      const why = 'The upstream closed the connection in the middle of its answer.';
      resolve(fault('disconnect', why));
    });
  });
}
