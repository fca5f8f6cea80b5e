// `sub gateway serve`: the model gateway of a team, until a signal ends it.
import { once } from 'node:events';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { limitHeapGrowth } from '@subluminal/gateway/heap-growth';
import { startGateway } from '@subluminal/gateway/serve';
import { homePaths } from '@subluminal/plane/config';
import { secretPlaces } from '../gateway/config-home.ts';
import { renderConfigProblems } from '../gateway/render-check.ts';
import { badUsage, defineCommand, done, EXIT, textOption } from '../input/command.ts';
import { builtPages } from '../ledger/built-pages.ts';
import manifest from '../package.json' with { type: 'json' };
import { harmless } from '../terminal/text.ts';
import { untilSignal } from '../terminal/until-signal.ts';

const PORT_MAX = 65_535;

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

export const serve = defineCommand({
  description:
    'Runs the gateway with a folder of configuration until a signal ends it, and then waits for the turns under way. Without another database it keeps everything in one SQLite file of the home. A changed folder is taken over at once; a broken one changes nothing.',
  args: { dir: 'The folder with pools.yaml, policies/main.yaml and the other files' },
  options: {
    database: textOption('URL', 'A Postgres database, or the path of a SQLite file'),
    host: textOption('HOST', 'The address to listen on, instead of the one in gateway.yaml'),
    port: textOption('PORT', 'The port to listen on, instead of the one in gateway.yaml'),
  },
  examples: [
    'sub gateway serve gateway/',
    'sub gateway serve gateway/ --database postgres://gateway@db.internal/gateway',
  ],
  exitCodes: {
    0: 'a signal has ended it',
    1: 'the configuration has errors',
    2: 'wrong flags, or it could not be started',
  },
  hasJson: false,
  run: async ({ args, options }, io) => {
    const port = options.port === undefined ? undefined : Number(options.port);
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= PORT_MAX)) {
      return badUsage(`--port is a number from 0 to ${PORT_MAX}.`, 'Give another one.');
    }
    process.umask(0o077);
    const { dir } = args;
    const log = (line: string) =>
      io.err.write(`${new Date().toISOString()} gateway: ${harmless(line)}\n`);
    const pages = builtPages();
    const started = await startGateway({
      dir,
      home: join(homePaths(process.env).home, 'gateway'),
      places: await secretPlaces(),
      version: manifest.version,
      listen: {
        ...(options.host !== undefined && { host: options.host }),
        ...(port !== undefined && { port }),
      },
      ...(options.database !== undefined && { database: options.database }),
      ...(pages !== undefined && { pages }),
      log,
    });
    if (isFailure(started)) return started;
    if (started.kind === 'invalid') {
      io.err.write(renderConfigProblems(started.problems, dir, io));
      return done(EXIT.findings);
    }
    limitHeapGrowth();
    log(`It listens on ${started.url}.`);
    if (pages !== undefined) log(`Its page: ${started.url}/`);
    await untilSignal(({ signal }) => aborted(signal));
    log('It takes no more turns, and ends when those under way have ended.');
    await started.close();
    return done(EXIT.fine);
  },
});
