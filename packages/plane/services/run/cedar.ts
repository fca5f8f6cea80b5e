// The Cedar policies of a run: read at its start, and again when they change.
import { type Failure, failure } from '@subluminal/contracts';
import { formatProblem, type Problem } from '@subluminal/core/policy';
import type { Config } from '../../stores/config/index.ts';
import type { Cedar, CedarPaths, CedarReload, loadCedar, watchCedar } from '../cedar/index.ts';
import type { Judge } from '../hub/index.ts';
import type { RunOptions } from './options.ts';

export interface RunCedar {
  readonly judge: Judge;
  /** Changes of the policies are told there as well, from now on. */
  recordTo(record: Record): void;
  close(): Promise<void>;
}

type Record = (status: 'ok' | 'degraded', reason: string) => void;

/** Who hears of changes: whoever reads the terminal, and the record of the run once there is one. */
interface CedarListener extends Pick<RunOptions, 'tell'> {
  record: Record;
}

type OpenedCedar =
  | {
      readonly ok: true;
      readonly current: () => Cedar;
      readonly close: () => Promise<void>;
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const PROBLEMS_SHOWN_MAX = 20;
const HASH_SHOWN = 19;

/**
 * Undefined without policies. Those that are broken keep the agent from starting in production; in
 * development it goes without them, and says so.
 */
export async function openRunCedar({
  config,
  tell,
}: Pick<RunOptions, 'config' | 'tell'>): Promise<RunCedar | Failure | undefined> {
  const place = placeOf(config);
  if (place === undefined) return undefined;
  // Only who has policies pays for the engine.
  const cedar = await import('../cedar/index.ts');
  const hearing: CedarListener = { tell, record: () => {} };
  const opened = await open(place, { cedar, config, hearing });
  for (const problem of opened.problems.slice(0, PROBLEMS_SHOWN_MAX)) tell(formatProblem(problem));
  if (!opened.ok) {
    const message = `the Cedar policies of ${place.policies} cannot be used.`;
    const fix = 'Correct what is said above; `sub policy explain --cedar` checks them, too.';
    if (config.profile === 'production') return failure('SUB_CEDAR_FILES', message, fix);
    tell(`${message} We go on without them.`);
    return undefined;
  }
  return {
    judge: {
      name: 'cedar',
      refusal: ({ call, riskClass, nowMs }) => {
        const request = cedar.cedarRequest(call, { riskClass, nowMs });
        return cedar.cedarRefusal(opened.current().evaluate(request));
      },
    },
    recordTo: (record) => {
      hearing.record = record;
    },
    close: opened.close,
  };
}

function placeOf(config: Config): CedarPaths | undefined {
  const policies = config['cedar.policies'];
  if (policies === null) return undefined;
  const schema = config['cedar.schema'] ?? undefined;
  const entities = config['cedar.entities'] ?? undefined;
  return { policies, schema, entities, isStrict: config.profile === 'production' };
}

interface CedarOpening extends Pick<RunOptions, 'config'> {
  readonly hearing: CedarListener;
  readonly cedar: {
    readonly loadCedar: typeof loadCedar;
    readonly watchCedar: typeof watchCedar;
  };
}

/** Whether a change only tightens cannot be told of Cedar policies, so only `any` takes one. */
async function open(
  place: CedarPaths,
  { cedar, config, hearing }: CedarOpening,
): Promise<OpenedCedar> {
  if (config['policy.reload'] !== 'any') {
    const loaded = await cedar.loadCedar(place);
    if (!loaded.ok) return loaded;
    const close = async () => loaded.cedar.close();
    return { ok: true, current: () => loaded.cedar, close, problems: loaded.problems };
  }
  const watching = await cedar.watchCedar(place, { onReload: (reload) => told(reload, hearing) });
  if (!watching.ok) return watching;
  const { watched, problems } = watching;
  return { ok: true, current: () => watched.current(), close: () => watched.close(), problems };
}

function told(reload: CedarReload, { tell, record }: CedarListener): void {
  if (reload.kind === 'unchanged') return;
  for (const problem of reload.problems.slice(0, PROBLEMS_SHOWN_MAX)) tell(formatProblem(problem));
  const hash = reload.hash.slice(0, HASH_SHOWN);
  const isKept = reload.kind === 'kept';
  const words = isKept
    ? `the Cedar policies have changed and are broken; those of ${hash}… stay in use.`
    : `the Cedar policies have changed; from now on those of ${hash}… decide.`;
  tell(words);
  record(isKept ? 'degraded' : 'ok', words);
}
