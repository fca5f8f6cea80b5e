// The text of HTML as a reader would see it. What is there for machines alone is left out: it is where
// instructions to a model are hidden.
import { Parser } from 'htmlparser2';

export interface HtmlText {
  readonly text: string;
  /** Characters that a reader would not have seen, and that are left out. */
  readonly hiddenChars: number;
  /** Addresses of links, in order, each once. */
  readonly links: readonly string[];
}

export interface HtmlTextLimits {
  readonly charsMax: number;
  readonly linksMax: number;
  /** Of a page: where relative links start. Its menus, footers and forms are left out. */
  readonly pageUrl?: string;
}

const DEPTH_MAX = 512;
const STYLE_CHARS_MAX = 100_000;
/** What stands around the content of a page. */
const AROUND = new Set(['nav', 'footer', 'aside', 'form', 'button', 'dialog', 'menu']);
const NEVER_SHOWN = new Set([
  'head',
  'script',
  'style',
  'template',
  'noscript',
  'iframe',
  'object',
  'svg',
  'math',
  'canvas',
  'textarea',
  'select',
  'title',
]);
/** They have no end of their own. */
const VOID = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'area', 'base', 'col', 'wbr']);
const BLOCK =
  /^(?:address|article|aside|blockquote|body|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|tbody|tr|ul)$/;
const NOTHING = String.raw`0*(?:0|\.0+|0\.0+)(?:px|pt|em|rem|%|vh|vw)?`;
const HIDING = new RegExp(
  [
    String.raw`display:none`,
    String.raw`visibility:(?:hidden|collapse)`,
    String.raw`content-visibility:hidden`,
    String.raw`opacity:(?:0?\.0\d*|${NOTHING})(?:;|!|$)`,
    String.raw`font-size:(?:${NOTHING}|0?\.\d+(?:px|pt|em|rem)|[1-3](?:\.\d+)?(?:px|pt))(?:;|!|$)`,
    String.raw`(?:max-)?(?:height|width):${NOTHING}(?:;|!|$)`,
    String.raw`text-indent:-\d{3,}`,
    String.raw`(?:^|;)(?:left|right|top|bottom|margin-left|margin-top):-\d{3,}`,
    String.raw`clip:rect\((?:0px|0,|00|1px)`,
    String.raw`clip-path:(?:inset\((?:50|100)%|circle\(0)`,
    String.raw`transform:scale\(0`,
    String.raw`(?:^|;)color:(?:transparent|rgba\([^)]*,0(?:\.0+)?\))`,
    String.raw`mso-hide:all`,
  ].join('|'),
);
const COLOR = /(?:^|;)color:([^;!]+)/;
const BACKGROUND = /(?:^|;)background(?:-color)?:([^;!]+)/;
const SIMPLE_SELECTOR = /[.#][\w-]{1,100}/g;

export function htmlText(html: string, limits: HtmlTextLimits): HtmlText {
  const { charsMax } = limits;
  const reader = new VisibleText(limits, selectorsThatHide(html));
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      onclosetag: (name) => reader.close(name),
      ontext: (text) => reader.add(text),
    },
    { decodeEntities: true },
  );
  parser.end(html.slice(0, charsMax));
  return reader.result();
}

class VisibleText {
  readonly #limits: HtmlTextLimits;
  readonly #hidingSelectors: ReadonlySet<string>;
  readonly #links = new Set<string>();
  readonly #parts: string[] = [];
  #depth = 0;
  /** The depth at which the outermost hidden element began. */
  #hiddenFrom: number | undefined;
  #hiddenByStyle = false;
  #hiddenChars = 0;

  constructor(limits: HtmlTextLimits, hidingSelectors: ReadonlySet<string>) {
    this.#limits = limits;
    this.#hidingSelectors = hidingSelectors;
  }

  open(name: string, attributes: { readonly [name: string]: string }): void {
    if (BLOCK.test(name)) this.#parts.push('\n');
    else if (name === 'td' || name === 'th') this.#parts.push(' ');
    if (VOID.has(name)) return;
    this.#depth++;
    if (this.#hiddenFrom === undefined) {
      const isAround = this.#limits.pageUrl !== undefined && AROUND.has(name);
      const isNeverShown = isAround || NEVER_SHOWN.has(name);
      // What nests this deep is meant for no reader.
      const isHidden = this.#depth > DEPTH_MAX || this.#isHidden(attributes);
      if (isNeverShown || isHidden) this.#hiddenFrom = this.#depth;
      this.#hiddenByStyle = isHidden;
    }
    if (name !== 'a' || this.#hiddenFrom !== undefined) return;
    const link = this.#linkTo(attributes['href'] ?? '');
    if (link !== undefined && this.#links.size < this.#limits.linksMax) this.#links.add(link);
  }

  #linkTo(href: string): string | undefined {
    const { pageUrl } = this.#limits;
    if (/^(?:https?|mailto):/i.test(href)) return href;
    if (pageUrl === undefined || href === '' || /^(?:#|[a-z][a-z0-9+.-]*:)/i.test(href))
      return undefined;
    return URL.canParse(href, pageUrl) ? new URL(href, pageUrl).href : undefined;
  }

  close(name: string): void {
    if (VOID.has(name)) return;
    if (BLOCK.test(name)) this.#parts.push('\n');
    if (this.#hiddenFrom === this.#depth) this.#hiddenFrom = undefined;
    if (this.#depth > 0) this.#depth--;
  }

  add(text: string): void {
    if (this.#hiddenFrom === undefined) this.#parts.push(text.replaceAll(/[\s\u00a0]+/g, ' '));
    else if (this.#hiddenByStyle) this.#hiddenChars += text.trim().length;
  }

  result(): HtmlText {
    // In this order each takes time in proportion to the text, whatever is in it.
    const text = this.#parts
      .join('')
      .replaceAll(/ +/g, ' ')
      .replaceAll(/ ?\n ?/g, '\n');
    const lines = text.replaceAll(/\n{3,}/g, '\n\n');
    return { text: lines.trim(), hiddenChars: this.#hiddenChars, links: [...this.#links] };
  }

  #isHidden(attributes: { readonly [name: string]: string }): boolean {
    const { class: classes = '', id, style = '' } = attributes;
    if (attributes['hidden'] !== undefined || attributes['aria-hidden'] === 'true') return true;
    if (hidesText(style)) return true;
    if (this.#hidingSelectors.size === 0) return false;
    const names = classes.split(/\s+/, 100).map((one) => `.${one}`);
    return [...names, `#${id ?? ''}`].some((one) => this.#hidingSelectors.has(one));
  }
}

function hidesText(style: string): boolean {
  if (style === '') return false;
  const plain = style
    .slice(0, STYLE_CHARS_MAX)
    .toLowerCase()
    .replaceAll(/\/\*[^*]*\*\//g, '')
    .replaceAll(/\s+/g, '');
  if (HIDING.test(plain)) return true;
  const color = COLOR.exec(plain)?.[1];
  const background = BACKGROUND.exec(plain)?.[1];
  if (color === undefined) return false;
  // White on the white of a page without a background of its own.
  return background === undefined ? isWhite(color) : color === background;
}

function isWhite(color: string): boolean {
  return /^(?:white|#fff(?:fff)?|rgb\(255,255,255\))$/.test(color);
}

/** What a style sheet hides by a class or an id. More would need a browser. */
function selectorsThatHide(html: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, sheet = ''] of html.matchAll(/<style[^>]{0,500}>([^<]{0,100000})/gi)) {
    for (const rule of sheet.split('}')) {
      const at = rule.lastIndexOf('{');
      if (at < 0 || !hidesText(rule.slice(at + 1))) continue;
      const selector = rule.slice(0, at);
      for (const [name] of selector.matchAll(SIMPLE_SELECTOR)) found.add(name);
    }
  }
  return found;
}
