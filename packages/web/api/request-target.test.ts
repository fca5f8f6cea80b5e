import { expect, test } from 'vitest';
import { targetOf } from './request.ts';

test('no id leads to another address than that of its endpoint', () => {
  const path = '/api/v1/calls/{run_id}/{call_id}';
  const target = (run_id: string, call_id: string) => targetOf(path, { run_id, call_id }, []);
  expect(target('a/b', '..%2f?x#y')).toBe('/api/v1/calls/a%2Fb/..%252f%3Fx%23y');
  for (const id of ['..', '.']) {
    expect(() => target(id, 'secrets')).toThrow('nothing but dots');
    expect(() => target('r1', id)).toThrow('nothing but dots');
  }
});
