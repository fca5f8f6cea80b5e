// The body of an error. Providers repeat the key that they refuse: ours goes neither to the client nor on record.
import {
  type AnswerBody,
  isFault,
  readAnswerBody,
  type UpstreamFault,
} from '@subluminal/plane/upstream';
import type { Attempt } from './types.ts';

export async function readErrorBody(
  body: AnswerBody,
  { credentials }: Pick<Attempt, 'credentials'>,
  bytesMax: number,
): Promise<Buffer | UpstreamFault> {
  const read = await readAnswerBody(body, bytesMax);
  if (isFault(read) || credentials.kind !== 'key') return read;
  const { key } = credentials;
  if (!read.includes(key)) return read;
  return Buffer.from(read.toString('utf8').replaceAll(key, '[key]'));
}
