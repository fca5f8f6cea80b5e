// A request as a shim leaves it in the queue: a line of JSON, and a line with a signature over it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { homeSeal } from '@subluminal/plane/crypto';

export function writeSignedRequest(home: string, request: { readonly id: string }): void {
  const name = `${request.id}.json`;
  const line = JSON.stringify(request);
  const signed = homeSeal(home).sign(`subluminal.record.v1\napprovals/${name}\n${line}`);
  if (isFailure(signed)) throw new Error(signed.message);
  const { keyId, value } = signed;
  const seal = JSON.stringify({ key_id: keyId, signature: value });
  writeFileSync(join(home, 'approvals', name), `${line}\n${seal}\n`, { mode: 0o600 });
}
