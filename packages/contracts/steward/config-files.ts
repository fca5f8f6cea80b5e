// The YAML files of Steward's configuration folder, and how each is read.
import type { ConfigFileForm } from '../gateway/config-files.ts';
import { parserFor } from '../shape/check.ts';
import type { ObjectShape } from '../shape/shape.ts';
import { GUARDRAILS_FILE, type GuardrailsFile } from './guardrails-file.ts';
import { INTEGRATIONS_FILE, type IntegrationsFile } from './integrations-file.ts';
import { PERMISSIONS_FILE, type PermissionsFile } from './permissions-file.ts';

function form<T>(shape: ObjectShape): ConfigFileForm<T> {
  return { shape, parse: parserFor<T>(shape) };
}

export const STEWARD_CONFIG_FILES = {
  'permissions.yaml': form<PermissionsFile>(PERMISSIONS_FILE),
  'integrations.yaml': form<IntegrationsFile>(INTEGRATIONS_FILE),
  'guardrails.yaml': form<GuardrailsFile>(GUARDRAILS_FILE),
} as const;
