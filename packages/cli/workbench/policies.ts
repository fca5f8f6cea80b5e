// Policies, for the API of the daemon: looked at, tried and saved.
import type { PolicyWorkbench } from '@subluminal/plane/api';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { explainRecorded } from './explain-call.ts';
import type { RunReader } from './recorded-runs.ts';
import { replayText, suggestFromRuns } from './replay-policy.ts';
import { folderOfRun } from './run-folder.ts';
import { savePolicy } from './save-policy.ts';
import { activePolicy, lintText } from './show-policy.ts';
import { Slices } from './slices.ts';
import { diffText, testText } from './try-policy.ts';

/** How long one request may keep the daemon busy, in slices. */
const WORK_MS = 20_000;

export function policyWorkbench({ home, env, ledger, sync }: WorkbenchHost): PolicyWorkbench {
  const reader = ledger.store;
  const findPlace = async () => {
    const folders = await lastFolders(reader);
    return { env, paths: home.paths, folders };
  };
  const work = async (signal: AbortSignal) => {
    await sync();
    return { place: await findPlace(), reader, slices: new Slices(WORK_MS, signal) };
  };
  return {
    active: async (query) => {
      return activePolicy(query, { place: await findPlace(), reader, nowMs: Date.now });
    },
    lint: ({ text }) => lintText(text),
    diff: async (input) => diffText(input, await findPlace()),
    test: async (input, signal) => {
      return testText(input, await findPlace(), new Slices(WORK_MS, signal));
    },
    replay: async (input, signal) => replayText(input, await work(signal)),
    explain: async (input, signal) => explainRecorded(input, await work(signal)),
    suggest: async (input, signal) => suggestFromRuns(input, await work(signal)),
    save: async (input) => savePolicy(input, await findPlace(), Date.now()),
  };
}

const RUNS_MAX = 50;

/** The projects of the last runs: their policies are known. */
async function lastFolders(reader: RunReader): Promise<readonly string[]> {
  const { rows } = await reader.runs({}, { limit: RUNS_MAX });
  return [...new Set(rows.flatMap((run) => folderOfRun(run) ?? []))];
}
