// The Cedar policies of a run: read at its start, and again when they change.
import { type Failure, failure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/policy';
import type { CedarReload } from '../cedar/index.ts';
import type { Judge } from '../hub/index.ts';
import type { RunOptions } from './options.ts';

export interface RunCedar {
  readonly judge: Judge;
  /** Records changes of the policies there as well, from now on. */
  recordTo(record: HealthRecord): void;
  close(): Promise<void>;
}

type HealthRecord = (status: 'ok' | 'degraded', reason: string) => void;

const PROBLEMS_SHOWN_MAX = 20;
const HASH_SHOWN = 19;

/**
 * Undefined without policies. Broken policies keep the agent from starting in production; in
 * development it starts without them, and a message says so.
 */
export async function openRunCedar({
  config,
  tell,
}: Pick<RunOptions, 'config' | 'tell'>): Promise<RunCedar | Failure | undefined> {
  const { profile, 'cedar.policies': policies } = config;
  if (policies === null) return undefined;
  const schema = config['cedar.schema'] ?? undefined;
  const entities = config['cedar.entities'] ?? undefined;
  const place = { policies, schema, entities, isStrict: profile === 'production' };
  // Loaded only for runs with policies: the engine is large.
  const { cedarRefusal, cedarRequest, loadCedar, watchCedar } = await import('../cedar/index.ts');
  let record: HealthRecord = () => {};
  const onReload = (reload: CedarReload): void => {
    const [status, words] = reloadWords(reload);
    if (reload.kind === 'unchanged') return;
    for (const problem of reload.problems.slice(0, PROBLEMS_SHOWN_MAX))
      tell(formatProblem(problem));
    tell(words);
    record(status, words);
  };
  // Cedar policies cannot be compared for tightening, so only `any` takes a change.
  const isWatched = config['policy.reload'] === 'any';
  const opened = await (isWatched ? watchCedar(place, { onReload }) : loadCedar(place));
  for (const problem of opened.problems.slice(0, PROBLEMS_SHOWN_MAX)) tell(formatProblem(problem));
  if (!opened.ok) {
    const message = `the Cedar policies of ${policies} cannot be used.`;
    const fix = 'Correct what is said above; `sub policy explain --cedar` checks them, too.';
    if (profile === 'production') return failure('SUB_CEDAR_FILES', message, fix);
    tell(`${message} We go on without them.`);
    return undefined;
  }
  const current = () => ('watched' in opened ? opened.watched.current() : opened.cedar);
  return {
    judge: {
      name: 'cedar',
      refusal: ({ call, riskClass, nowMs }) =>
        cedarRefusal(current().evaluate(cedarRequest(call, { riskClass, nowMs }))),
    },
    recordTo: (next) => {
      record = next;
    },
    close: async () => ('watched' in opened ? opened.watched.close() : opened.cedar.close()),
  };
}

function reloadWords({ kind, hash }: CedarReload): ['ok' | 'degraded', string] {
  const shown = `${hash.slice(0, HASH_SHOWN)}…`;
  return kind === 'kept'
    ? ['degraded', `the Cedar policies have changed and are broken; those of ${shown} stay in use.`]
    : ['ok', `the Cedar policies have changed; from now on those of ${shown} decide.`];
}
