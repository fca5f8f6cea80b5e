export { makeTool } from './generated/make-tool.ts';
export type { ToolDraft, ToolWorker } from './generated/tool-worker.ts';
export { modelWorker } from './generated/tool-worker.ts';
export { expansionInForce } from './in-force.ts';
export { proposalNotes } from './proposal-notes.ts';
export type { ExpansionPart } from './revoke.ts';
export { planRevocation } from './revoke.ts';
export type { LookAtServer } from './servers/look-at-server.ts';
export { serverLooker } from './servers/look-at-server.ts';
export { planServer } from './servers/plan-server.ts';
export type { RegistryServer } from './servers/registry-server.ts';
export type { Registry } from './servers/server-registry.ts';
export { openRegistry } from './servers/server-registry.ts';
export { readForeignSkill } from './skills/foreign-skill.ts';
export { skillFindings } from './skills/scan-skill.ts';
export {
  DESCRIPTION_LENGTH_MAX,
  readSkill,
  SKILL_BYTES_MAX,
  skillText,
} from './skills/skill-file.ts';
export type { SkillLibrary } from './skills/skill-library.ts';
export { skillLibrary } from './skills/skill-library.ts';
