import { describe, expect, it } from 'vitest';
import { findCollisions } from './collisions.ts';

/** Collisions as short lines: `kind server/tool server/tool`. */
function linesOf(...servers: readonly (readonly [string, readonly string[]])[]): readonly string[] {
  const { found } = findCollisions(servers.map(([server, tools]) => ({ server, tools })));
  return found.map(
    ({ kind, names }) =>
      `${kind} ${names.map(({ server, tool }) => `${server}/${tool}`).join(' ')}`,
  );
}

describe('tools of several servers', () => {
  it('that share a name are reported with their servers', () => {
    expect(linesOf(['a', ['search', 'x']], ['b', ['search']], ['c', ['y']])).toEqual([
      'same_name a/search b/search',
    ]);
  });

  it.each([
    ['read_file', 'readFile', 'variant'],
    ['read_file', 'Read-File', 'variant'],
    ['read_file', 'rеad_file', 'look_alike'],
    ['read_file', 'read\u200b_file', 'look_alike'],
    ['bank_pay', '\u0392ank_pay', 'look_alike'],
    ['new_file', '\u039dew_file', 'look_alike'],
    ['your_mail', '\u03a5our_mail', 'look_alike'],
    ['her_file', '\u0397er_file', 'look_alike'],
    ['move_file', '\u039cove_file', 'look_alike'],
    ['send_all', '\ua4e2end_all', 'look_alike'],
    ['read_file', 'read\u2010file', 'look_alike'],
    ['read_file', `r${'\u0301'.repeat(2_000)}ead_file`, 'look_alike'],
    ['pay_bill', 'pay_bi1l', 'look_alike'],
    ['summarize', 'surnmarize', 'look_alike'],
    ['list_files', 'list_file', 'near'],
    ['send_message_now', 'send_mesage_nov', 'near'],
  ])('%s and %s are told as %s', (left, right, kind) => {
    expect(linesOf(['a', [left]], ['b', [right]])).toEqual([`${kind} a/${left} b/${right}`]);
  });

  it.each([
    ['get', 'set'],
    ['send', 'read'],
    ['create_issue', 'create_branch'],
    ['read_file', 'write_file'],
  ])('%s and %s are two things', (left, right) => {
    expect(linesOf(['a', [left]], ['b', [right]])).toEqual([]);
  });

  it('are compared by near names across servers only', () => {
    expect(linesOf(['a', ['list_files', 'list_file', 'list_fi1es']])).toEqual([
      'look_alike a/list_files a/list_fi1es',
    ]);
  });

  it('in great numbers are compared up to a limit, and the result says so', () => {
    const names = (prefix: string) =>
      Array.from({ length: 4_000 }, (_, index) => `${prefix}_tool_${index.toString(7)}`);
    const result = findCollisions([
      { server: 'a', tools: names('abc') },
      { server: 'b', tools: names('abd') },
    ]);
    expect(result.isComplete).toBe(false);
    expect(result.found.length).toBeLessThanOrEqual(500);
  });
});
