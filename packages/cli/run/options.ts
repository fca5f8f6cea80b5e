// The command line of `sub run`, which `sub wrap` extends.
import { choice, type Input, many, textOption, textsOption } from '../input/command.ts';
import { PROFILE_DOC, PROFILES } from '../input/shared-options.ts';

export const RUN_ARGS = { command: many('The agent and its arguments, behind `--`') };
export const RUN_OPTIONS = {
  'agent-id': textOption('id', 'The name of the agent in policies and events'),
  env: choice(['dev', 'ci', 'prod'], 'The environment (default: ci inside a CI job, else dev)'),
  client: choice(
    ['claude', 'codex', 'headless', 'custom'],
    'The client that the agent is (default: by the name of the command)',
  ),
  principal: textOption('name', 'The person or account that the agent runs for'),
  policy: textOption(
    'file',
    'The policy of the run: a bundle or a compiled snapshot; a server whose entry names its own policy keeps it',
  ),
  trust:
    'Trust the policy of the project for this run, as SUB_TRUST=1 does; `sub trust` trusts it permanently',
  models:
    'Put the model calls of the agent under the policy and on record, too; its own key or login goes on to its own provider',
  hooks:
    'Fail unless the own tools of the agent can be governed by its hooks (default: they are where that is possible)',
  'no-hooks': 'Start the agent without hooks: its own tools are not governed',
  cedar: textOption('path', 'A folder or file of Cedar policies that must permit each call'),
  profile: choice(PROFILES, PROFILE_DOC),
  strict:
    'Exit with 3 when a call was refused, or would have been, when a policy was loosened during the run, or when that is unknown',
  'allow-no-server': 'With --strict: accept a run that starts no server behind a shim',
  events: textOption(
    'file',
    'Append the events to this file; - prints them while the agent runs; `ledger` and `off` as for sub shim',
  ),
  bundle: textOption('dir', 'Keep the run as a trace bundle in this folder'),
  force: 'Replace an existing bundle',
  meta: textsOption('key=value', 'A note about the run for its first event; can be repeated'),
  verbose: 'Let the shims log everything they do to standard error',
  quiet: 'Print no summary at the end',
};
export const RUN_EXIT_CODES = {
  0: 'the agent succeeded; any other code of the agent is passed on',
  2: 'wrong flags, a broken policy or configuration, or a trace that cannot be written completely',
  3: 'the run was terminated, or --strict found a violation, a loosened policy or a changed definition, or cannot tell',
  126: 'the command of the agent cannot be executed',
  127: 'the command of the agent does not exist',
  128: 'and more: 128 plus the signal that ended the agent',
};

export type RunInput = Input<typeof RUN_ARGS, typeof RUN_OPTIONS>;
