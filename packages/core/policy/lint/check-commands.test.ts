import { expect, test } from 'vitest';
import { parseWhen } from '../match/when.ts';
import { parseBundle } from '../read/parse.ts';
import { bundleText, NO_CHECKS, sampleRule } from '../testing/sample-bundle.ts';
import { lintBundle } from './lint.ts';

function advice(text: string): readonly string[] {
  const file = 'p.yaml';
  const given = `${text}\nhint_delivery: tool_result\n`;
  const parsed = parseBundle({ file, text: given }, { checks: NO_CHECKS });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  const found = lintBundle(parsed.bundle, parsed.positionOf, { file, nowMs: 0, parseWhen });
  return found.map(({ code, path, message }) => `${code} ${path} ${message}`);
}

function matching(command: string): { readonly match: string } {
  return { match: `{ command: ${command} }` };
}

test.each([
  [
    'an allow by program alone',
    sampleRule('allow', matching('{ program: ["npm test*"] }')),
    'SUB_LINT_COMMAND rules[0].match.command `allow` lets these programs write any file, as in `npm test > ~/.bashrc`',
  ],
  [
    'a pipe',
    sampleRule('deny', matching('{ program: ["curl*|*sh"] }')),
    'SUB_LINT_COMMAND rules[0].match.command.program[0] `curl*|*sh` never matches: each program of a command is compared by itself',
  ],
  [
    'options in one order',
    sampleRule('deny', matching('{ program: ["rm -rf*"] }')),
    'SUB_LINT_COMMAND rules[0].match.command.program[0] options can be written in other ways and in another order than in `rm -rf*`',
  ],
  [
    'words without a star',
    sampleRule('approval', matching('{ program: ["git push"] }')),
    'SUB_LINT_COMMAND rules[0].match.command.program[0] `git push` matches these words alone, without further arguments',
  ],
  [
    'a program by its path',
    sampleRule('deny', matching('{ program: [/usr/bin/rm] }')),
    'SUB_LINT_COMMAND rules[0].match.command.program[0] `/usr/bin/rm` matches only where the program is called by this path',
  ],
  [
    'a section without rules',
    `${sampleRule('deny')}commands: { opaque: block }`,
    'SUB_LINT_COMMAND commands no rule has `match.command`, so nothing is asked about commands',
  ],
  [
    'commands of resources',
    sampleRule('deny', { match: '{ subjects: [resource], command: { program: [rm] } }' }),
    'SUB_LINT_UNREACHABLE rules[0].match.subjects `deny` can never match: only calls of tools run commands',
  ],
  [
    'tools of a client that run no commands',
    sampleRule('deny', {
      match:
        '{ server_name: { glob: [claude-code] }, tool_name: { glob: ["{Write,Edit}", "Web*"] }, command: { reads: [.env] } }',
    }),
    'SUB_LINT_UNREACHABLE rules[0].match.tool_name `deny` can never match: these tools run no commands',
  ],
  [
    'a condition on the commands of a tool that runs none',
    sampleRule('deny', {
      match: '{ tool_name: { glob: [Read] }, command: { program: ["*"] } }',
      when: 'command.opaque',
    }),
    'SUB_LINT_UNREACHABLE rules[0].match.tool_name `deny` can never match: these tools run no commands',
  ],
  [
    'an allow by a class of a part',
    sampleRule('tag', matching('{ program: [ls] }')) +
      sampleRule('allow', { match: '{ risk_class: [write_like] }' }),
    'SUB_LINT_COMMAND rules[1].match.risk_class[0] `tag` adds `write_like` where a part of a command matches, so `allow` lets the rest of it pass, too',
  ],
])('lint warns of %s', (_, rules, expected) => {
  expect(advice(bundleText(rules))).toEqual([expected]);
});

test.each([
  ['an allow with files', sampleRule('allow', matching('{ program: [ls], writes: ["src/**"] }'))],
  ['an allow with folders', sampleRule('allow', matching('{ program: [ls], args_under: [src] }'))],
  ['a deny of programs', sampleRule('deny', matching('{ program: [rm, "git push*"] }'))],
  [
    'commands of a shell among other tools of a client',
    sampleRule('deny', {
      match:
        '{ server_name: { glob: [codex] }, tool_name: { glob: [apply_patch, "exec_*"] }, command: { program: [rm] } }',
    }),
  ],
  [
    'commands of a tool that a server may have',
    sampleRule('deny', { match: '{ tool_name: { glob: [deploy] }, command: { program: [rm] } }' }),
  ],
  [
    'a deny below an allow of the same',
    sampleRule('allow', matching('{ program: [rm], writes: ["src/**"] }')) +
      sampleRule('deny', matching('{ program: [rm], writes: ["src/**"] }')),
  ],
])('lint has nothing to say on %s', (_, rules) => {
  expect(advice(bundleText(rules))).toEqual([]);
});
