// What the proxy tells the gateway about a turn. Names, counts and hashes: never what was said.
import { ENVELOPE_VERSION, type ModelEnvelope } from '@subluminal/contracts';
import { tagTurn } from '@subluminal/core/classify';
import type { Inspection } from '../inspect/index.ts';
import type { TurnRequest } from '../turns/types.ts';
import type { ClientTool } from './client-tool.ts';
import type { FileFingerprints } from './file-fingerprints.ts';
import type { RepoFacts } from './repo-facts.ts';

export interface EnvelopeFacts {
  readonly request: TurnRequest;
  readonly inspection: Inspection;
  readonly tool: ClientTool;
  readonly session: { readonly id: string; readonly turnIndex: number };
  readonly repo: RepoFacts | undefined;
  readonly repoId: string | undefined;
  readonly machine: {
    readonly version: string;
    readonly machineId: string;
    readonly userId: string;
    readonly teamId: string;
  };
  readonly files: FileFingerprints;
}

const SYSTEMS = { darwin: 'darwin', win32: 'windows' } as const;
const FINDINGS_MAX = 1_000;
const SEVERITIES = { certain: 'critical', likely: 'warn', hint: 'info' } as const;

export function turnEnvelope(facts: EnvelopeFacts): ModelEnvelope {
  const { request, inspection, tool, session, repo, machine, files } = facts;
  const { findings } = inspection;
  const { isContinuation } = request.outline;
  const tags = tagTurn({
    messages: inspection.signals(),
    isContinuation,
    hasSecret: findings.some((finding) => finding.class === 'secret'),
    hasPersonalData: findings.some((finding) => finding.class === 'personal'),
    ...(repo !== undefined && { project: repo.root }),
  });
  const [language] = tags.languages;
  return {
    schema_version: ENVELOPE_VERSION,
    client: {
      lp_version: machine.version,
      os:
        process.platform === 'darwin' || process.platform === 'win32'
          ? SYSTEMS[process.platform]
          : 'linux',
      arch: process.arch === 'arm64' ? 'arm64' : 'amd64',
    },
    identity: {
      user_id: machine.userId,
      team_id: machine.teamId,
      machine_id: machine.machineId,
    },
    agent: {
      tool: tool.tool,
      ...(tool.version !== undefined && { tool_version: tool.version }),
      wire_protocol: request.wire,
    },
    session: {
      session_id: session.id,
      turn_index: session.turnIndex,
      is_continuation: isContinuation,
    },
    repo: repoPart(repo, facts.repoId),
    context_signals: {
      file_paths: [...tags.filePaths],
      file_fingerprints: repo === undefined ? [] : files.of(repo.root, tags.filePaths),
      diff_summary: tags.diffSummary,
      ...(language !== undefined && { primary_language: language }),
    },
    task_hints: tags.hints,
    scan: {
      pre_scan_engine: `subluminal@${machine.version}`,
      pre_scan_findings: findings.slice(0, FINDINGS_MAX).map((finding) => ({
        rule_id: finding.rule,
        severity: SEVERITIES[finding.confidence],
        offset: finding.range.start,
        length: finding.range.end - finding.range.start,
      })),
    },
  };
}

function repoPart(repo: RepoFacts | undefined, repoId: string | undefined): ModelEnvelope['repo'] {
  if (repo === undefined) return {};
  const { remoteUrl, branch, headSha, isDirty } = repo;
  return {
    ...(repoId !== undefined && { repo_id: repoId }),
    ...(remoteUrl !== undefined && { remote_url: remoteUrl }),
    ...(branch !== undefined && { branch }),
    ...(headSha !== undefined && { head_sha: headSha }),
    ...(isDirty !== undefined && { is_dirty: isDirty }),
  };
}
