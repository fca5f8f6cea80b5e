// What the local proxy says about a turn beside its body. All of it is a hint: the gateway works it out again.
import { parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  type Infer,
  integer,
  number,
  oneOf,
  open,
  optional,
  record,
  required,
  scalar,
  string,
} from '../shape/shape.ts';

export const TASK_TYPES = [
  'planning',
  'architecture',
  'repo_search',
  'file_reading',
  'simple_edit',
  'code_edit',
  'test_output',
  'debug',
  'review',
  'security_review',
  'summary',
  'unknown',
] as const;
export const TASK_TYPE = oneOf(...TASK_TYPES);
export const LEVEL = oneOf('low', 'medium', 'high', 'unknown');
export const WIRE_PROTOCOL = oneOf(
  'anthropic_messages',
  'openai_chat_completions',
  'openai_responses',
);
export const ENVELOPE_VERSION = '1.0';

/** The proxy names at most so many files. */
export const FILE_PATHS_MAX = 64;

const shortText = string({ lengthMin: 0, lengthMax: 1_024 });
const confidence = number({ min: 0, max: 1 });
const count = integer({ min: 0 });

export const MODEL_ENVELOPE = open({
  schema_version: required(string({ lengthMax: 16 }), 'The version of this envelope, like 1.0.'),
  client: required(
    open({
      lp_version: required(string({ lengthMax: 64 }), 'The version of the proxy.'),
      os: required(oneOf('darwin', 'linux', 'windows'), 'Its system.'),
      arch: required(oneOf('amd64', 'arm64'), 'Its processor.'),
    }),
    'The machine of the client.',
  ),
  identity: required(
    open({
      user_id: optional(shortText, 'Who the client says it is.'),
      team_id: optional(shortText, 'The team that the client names.'),
      machine_id: required(string({ lengthMax: 128 }), 'A stable hash of host and installation.'),
    }),
    'Hints; the key says who it is.',
  ),
  agent: required(
    open({
      tool: required(
        oneOf('claude_code', 'cursor', 'aider', 'codex_cli', 'continue', 'custom_oai'),
        'The agent.',
      ),
      tool_version: optional(shortText, 'Its version.'),
      wire_protocol: required(WIRE_PROTOCOL, 'The wire it speaks.'),
    }),
    'The agent that makes the turn.',
  ),
  session: required(
    open({
      session_id: required(string({ lengthMax: 128 }), 'The session of the agent.'),
      turn_index: required(count, 'The place of the turn in its session, from 0.'),
      is_continuation: required(boolean(), 'Whether results of tools are in it.'),
    }),
    'Where the turn stands.',
  ),
  repo: required(
    open({
      repo_id: optional(shortText, 'The id of the binding.'),
      remote_url: optional(shortText, 'The remote of the repository, without credentials.'),
      branch: optional(shortText, 'The branch.'),
      head_sha: optional(string({ lengthMax: 64 }), 'The commit.'),
      is_dirty: optional(boolean(), 'Whether there are changes that are not committed.'),
    }),
    'The repository.',
  ),
  context_signals: required(
    open({
      file_paths: required(array(shortText, { itemsMax: FILE_PATHS_MAX }), 'Relative paths.'),
      file_fingerprints: required(
        array(
          open({
            path: required(shortText, 'A relative path.'),
            size_bytes: required(count, 'Its size.'),
            sha256: required(string({ lengthMax: 64 }), 'The hash of its content.'),
            language: optional(shortText, 'Its language.'),
          }),
          { itemsMax: FILE_PATHS_MAX },
        ),
        'Files by their hash, never their content.',
      ),
      diff_summary: required(
        open({
          lines_added: required(count, 'Lines added.'),
          lines_removed: required(count, 'Lines removed.'),
          contains_test_failure_keyword: required(boolean(), 'A test seems to fail.'),
          contains_stack_trace: required(boolean(), 'There seems to be a stack trace.'),
        }),
        'Statistics, never the text.',
      ),
      primary_language: optional(shortText, 'The language most files have.'),
    }),
    'What the tagger saw.',
  ),
  task_hints: required(
    open({
      task_type: required(TASK_TYPE, 'The task.'),
      complexity: required(LEVEL, 'How hard it is.'),
      data_sensitivity: required(LEVEL, 'How sensitive its data is.'),
      agentic_loop: required(boolean(), 'Whether the agent is in a loop of tools.'),
      contains_secret_like_pattern: required(boolean(), 'The scan found a secret.'),
      contains_pii_like_pattern: required(boolean(), 'The scan found personal data.'),
      security_sensitive_area: required(boolean(), 'Paths that have to do with security.'),
      routing_hints: optional(array(shortText, { itemsMax: 32 }), 'Only logged.'),
      confidence: required(
        open({
          task_type: required(confidence, 'From 0 to 1.'),
          complexity: required(confidence, 'From 0 to 1.'),
          data_sensitivity: required(confidence, 'From 0 to 1.'),
        }),
        'How sure the tagger is.',
      ),
    }),
    'What the tagger makes of it.',
  ),
  scan: required(
    open({
      pre_scan_engine: required(shortText, 'The scanner and its version.'),
      pre_scan_findings: required(
        array(
          open({
            rule_id: required(shortText, 'The rule.'),
            severity: required(oneOf('info', 'warn', 'critical'), 'How bad it is.'),
            offset: required(count, 'Where it starts.'),
            length: required(count, 'How long it is.'),
          }),
          { itemsMax: 1_000 },
        ),
        'Kinds and places, never the text.',
      ),
    }),
    'What the proxy found.',
  ),
  custom_tags: optional(record(scalar()), 'Tags of the user, 16 KB at most.'),
});
export type ModelEnvelope = Infer<typeof MODEL_ENVELOPE>;
export const parseModelEnvelope = parserFor<ModelEnvelope>(MODEL_ENVELOPE);
export type TaskType = Infer<typeof TASK_TYPE>;
export type Level = Infer<typeof LEVEL>;
