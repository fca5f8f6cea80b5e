// Where the demo plays: a folder of its own under the system's temporary one, with a home for
// Subluminal and a workspace for the agent. Nothing of the user's is read or written.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOG_LINES = 400;
const ERRORS = ['db: connection refused', 'db: connection refused', 'mail: queue is full'];

function setStage() {
  // Short names: the path of a socket may have about a hundred characters.
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'sub-demo-'));
  const stage = {
    root,
    home: join(root, 'home'),
    workspace: join(root, 'work'),
    report: join(root, 'report.json'),
    has: (name) => existsSync(join(root, 'work', name)),
    clear: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
  mkdirSync(stage.home, { mode: 0o700 });
  mkdirSync(stage.workspace);
  writeFileSync(join(stage.workspace, 'app.log'), logText());
  const secret = `DB_PASSWORD=${randomBytes(12).toString('hex')}\n`;
  writeFileSync(join(stage.workspace, '.env'), secret, { mode: 0o600 });
  return stage;
}

/** A quiet day, and then three errors. */
function logText() {
  const lines = Array.from({ length: LOG_LINES }, (_, at) => `INFO request ${at + 1} answered`);
  lines.splice(LOG_LINES - 10, 0, ...ERRORS.map((error) => `ERROR ${error}`));
  const startMs = Date.UTC(2026, 0, 31, 12);
  const at = (index) => new Date(startMs + index * 1_000).toISOString();
  return lines.map((line, index) => `${at(index)} ${line}\n`).join('');
}

/** The user's environment without what would steer Subluminal: the demo shows its own settings. */
function stageEnv({ home, report }, pauseMs) {
  const kept = Object.entries(process.env).filter(
    // The certificates cost each Node 20 process 50 ms, and nothing here leaves the machine.
    ([name]) => !name.startsWith('SUB_') && name !== 'NODE_EXTRA_CA_CERTS',
  );
  return {
    ...Object.fromEntries(kept),
    SUB_HOME: home,
    DEMO_REPORT: report,
    DEMO_PAUSE_MS: process.env.DEMO_PAUSE_MS ?? String(pauseMs),
  };
}

export { setStage, stageEnv };
