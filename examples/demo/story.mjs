// What happened, in a few lines: what was refused and why, what the agent then did, and what is
// there to try.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each of these must have refused something, or the demo has not shown what it is there for. */
const RULES = ['short-reads', 'no-secrets', 'no-double-writes', 'write-budget'];
/** What the agent wanted to write beyond its budget. */
const UNWRITTEN = 'ideas.md';

class StoryBroken extends Error {}

function tellStory(screen, { seen, stage, checked }) {
  const { paint, say } = screen;
  const refused = seen.filter(({ outcome }) => outcome === 'refused');
  const passed = seen.filter(({ outcome }) => outcome === 'done');
  say();
  say(
    `${seen.length} calls: ${paint('green', `${passed.length} passed`)}, ` +
      `${paint('yellow', `${refused.length} refused`)}. What the agent was told, and did then:`,
  );
  const wide = Math.max(...refused.map(({ rule_id }) => rule_id.length));
  for (const { rule_id, summary, hint_text, did } of refused) {
    const what = paint('dim', `→ it ${did ?? 'gave up'}`);
    say(`  ${paint('yellow', rule_id.padEnd(wide))}  ${hint_text ?? summary} ${what}`);
  }
  mustBeTrue(refused.map(({ rule_id }) => rule_id).join() === RULES.join(), 'other rules refused');
  mustBeTrue(passed.length + refused.length === seen.length, 'a call failed');
  mustBeTrue(stage.has('report.md'), 'report.md was not written');
  mustBeTrue(!stage.has(UNWRITTEN), `${UNWRITTEN} was written`);
  say(`No refused call reached the server: there is a report.md, and no ${UNWRITTEN}.`);
  say(`${paint('green', '✔')} ledger: ${verdictOf(checked)}`);
}

/** `sub ledger verify` in one line, without the path of a folder that will be gone. */
function verdictOf(checked) {
  const [first = '', second = ''] = checked.trim().split('\n');
  const verdict = first.split(': ').at(-1)?.replace(/\.$/, '');
  const [events = ''] = second.trim().split(',');
  return `${verdict} (${events}, by \`sub ledger verify\`).`;
}

function mustBeTrue(is, otherwise) {
  if (!is) throw new StoryBroken(otherwise);
}

/** A file of the demo, as it can be written here: it may be installed anywhere. */
function fileIn(name) {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const from = relative(process.cwd(), path);
  return from.startsWith('..') ? path : from;
}

function tellNext({ say, paint }, kept) {
  // Who begins with `npm start` in a checkout has not installed the command.
  const sub = process.env.npm_lifecycle_event === 'start' ? 'node packages/cli/bin/sub.mjs' : 'sub';
  const ledger =
    kept === undefined
      ? [`${sub} demo --keep`, 'keeps the ledger, and says how to ask it']
      : [`SUB_HOME=${kept.home} ${sub} query --decision REFUSED`, 'asks the ledger of this demo'];
  say();
  say(
    `${paint('bold', 'Next:')} put your own servers behind it with \`${sub} init\` and \`${sub} import\`; or`,
  );
  for (const [command, what] of [
    [`${sub} policy explain ${fileIn('policy.yaml')} --call ${fileIn('call.json')}`, 'says why'],
    ledger,
    [`${sub} doctor`, 'looks at your own setup'],
  ]) {
    say(`  ${command}  ${paint('dim', `# ${what}`)}`);
  }
}

export { StoryBroken, tellNext, tellStory };
