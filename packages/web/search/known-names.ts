import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { asked } from '../api/ledger.ts';
import type { KnownNames } from './completions.ts';

const STALE_MS = 30_000;
const RUNS = 200;

/** Names that the ledger knows, for completion; asked for while somebody types. */
export function useKnownNames(isTyping: boolean): KnownNames {
  const options = { enabled: isTyping, staleTime: STALE_MS };
  const stats = useQuery({ ...asked('stats'), ...options });
  const runs = useQuery({ ...asked('runs', { query: { limit: RUNS } }), ...options });
  return useMemo(() => {
    const tools = stats.data?.tools ?? [];
    const rows = runs.data?.rows ?? [];
    return {
      tool: distinct(tools.map(({ tool_name }) => tool_name)),
      server: distinct(tools.map(({ server_name }) => server_name)),
      rule: distinct((stats.data?.rules ?? []).map(({ rule_id }) => rule_id)),
      agent: distinct(rows.map(({ agent_id }) => agent_id)),
      principal: distinct(rows.map(({ principal }) => principal)),
      run: ['last', ...distinct(rows.map(({ run_id }) => run_id))],
    };
  }, [stats.data, runs.data]);
}

function distinct(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.flatMap((name) => (name === null || name === '' ? [] : [name])))];
}
