// SKILL.md, by the convention of Agent Skills: frontmatter with a name and a description, then instructions.
import { isObject } from '@subluminal/contracts';
import { readSource, valueOf } from '@subluminal/core/source';

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** Tools that its author wants to be allowed. It grants nothing here. */
  readonly wantsTools: boolean;
}

export const SKILL_FILE = 'SKILL.md';
export const SKILL_BYTES_MAX = 65_536;
export const DESCRIPTION_LENGTH_MAX = 1_024;
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const FRONTMATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/;

/** A text says why it is none. */
export function readSkill(text: string): Skill | string {
  if (Buffer.byteLength(text) > SKILL_BYTES_MAX)
    return `It is larger than ${SKILL_BYTES_MAX} bytes.`;
  const [, head, body = ''] = FRONTMATTER.exec(text.replace(/^\uFEFF/, '')) ?? [];
  if (head === undefined) return 'It does not begin with frontmatter between lines of `---`.';
  const source = readSource({ file: SKILL_FILE, bytes: Buffer.from(head) });
  if (!source.ok) return `Its frontmatter is no YAML: ${source.problems[0]?.message ?? ''}.`;
  const fields = valueOf(source.tree);
  if (!isObject(fields)) return 'Its frontmatter has no fields.';
  const { name, description } = fields;
  if (typeof name !== 'string' || !SKILL_NAME.test(name)) {
    return 'Its `name` has small letters, digits and single hyphens, 64 at most.';
  }
  if (typeof description !== 'string' || description.trim() === '') {
    return 'It has no `description`.';
  }
  if (description.length > DESCRIPTION_LENGTH_MAX) {
    return `Its \`description\` is longer than ${DESCRIPTION_LENGTH_MAX} characters.`;
  }
  if (body.trim() === '') return 'It has no instructions.';
  return {
    ...{ name, description: description.trim(), body: body.trim() },
    wantsTools: fields['allowed-tools'] !== undefined,
  };
}

export function skillText({ name, description, body }: Omit<Skill, 'wantsTools'>): string {
  // JSON is YAML: no text can end the field.
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body.trim()}\n`;
}
