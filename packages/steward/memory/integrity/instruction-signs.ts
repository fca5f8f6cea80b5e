// Signs that a text to be remembered is an order to the assistant rather than a fact. A memory comes back in later
// conversations, where nobody remembers where it is from: what would be an odd sentence in a mail is a standing order
// here. So it is judged more strictly than the scanner judges an answer. Every pattern is bounded.

import { carriesAction, mentionOf } from '@subluminal/core/detect';

interface Sign {
  readonly name: string;
  readonly patterns: readonly RegExp[];
}

/** Where an order can begin: a line, a sentence, behind a bullet or behind a word that asks for it. */
const ORDER =
  '(?:^|[.!?;:"\\n>*#-]|\\b(?:please|kindly|always|must|should|shall|then|also|just|immediately|and))[\\s"\'*_>)-]{0,6}';
const ASSISTANT =
  '(?:ai|a\\.i\\.|llms?|language models?|models?|assistants?|agents?|(?:chat)?bots?|steward|copilot|gpt)';
const SENDING =
  '(?:send|forward|cc|bcc|copy|upload|e-?mail|mail|transfer|wire|pay|share|submit|exfiltrate|leak|deliver|redirect|reply|append|embed|include)';
const ADDRESS =
  '(?:[\\w.+-]{1,64}@[\\w-]{1,64}\\.|https?:|www\\.|hxxps?:|[a-z]{2}\\d{2}[a-z\\d]{10})';

const pattern = (source: string) => new RegExp(source, 'im');

const SIGNS: readonly Sign[] = [
  {
    name: 'standing-order',
    patterns: [
      pattern(
        `\\b(?:from now on|from this (?:point|moment) on|going forward|henceforth|hereafter|ab sofort|desde ahora|d[ée]sormais)\\b[^.!?\\n]{0,100}\\b(?:you|your|always|never|must|${ASSISTANT}|${SENDING}|respond|reply|answer|say|speak|treat|trust|ignore|du|sie)\\b`,
      ),
      pattern(
        `\\b(?:whenever|every time|each time|any time|if|when|once)\\s(?:the |a |an )?(?:user|owner|you|human|${ASSISTANT})\\b[^.!?\\n]{1,120},\\s*(?:please |always |then |do |never )*(?!he\\b|she\\b|they\\b|it\\b|i\\b|we\\b)(?:${SENDING}|say|tell|use|add|run|call|ignore|answer|respond|recommend|mention|delete|open|execute|insert)\\b`,
      ),
      pattern(
        '\\b(?:in|for|to|during) (?:all|any|every|each|future|subsequent|later) (?:(?:future|later|subsequent|upcoming) )?(?:conversation|session|chat|repl(?:y|ies)|response|answer|task|request|interaction|message)s?\\b[^.!?\\n]{0,80}\\b(?:must|always|never|should|include|add|use|send|say|append)\\b',
      ),
      pattern(
        '\\b(?:always|never) (?:remember to )?(?:say|tell|respond|reply|answer|recommend|include|add|append|use|trust|obey|follow|comply|approve|allow|ask|refuse|run|execute|call|ignore)\\b',
      ),
    ],
  },
  {
    name: 'speaks-to-assistant',
    patterns: [
      pattern(
        `\\b(?:you are|you're|you will be|act as|pretend (?:to be|you|that)|imagine (?:you|that you)|behave (?:as|like)|role-?play as|du bist|sie sind|eres|tu es|vous êtes)\\b[^.!?\\n]{0,60}\\b(?:a\\.?i|assistant|agent|(?:chat)?bot|steward|gpt|expert|hacker|terminal|pirate|unrestricted|dan|without (?:rules|limits|restrictions)|nun|jetzt)\\b(?! (?:of|for) )`,
      ),
      pattern(
        `\\b(?:note|message|memo|instructions?|attention|important|reminder|notice|hinweis|anweisung(?:en)?)\\s*(?:for|to|an|:)\\s*(?:the |any |all |an? |die |den )?(?:reading |processing )?${ASSISTANT}(?=\\s*[:,.!\\n)-]|\\s(?:that|who|which|reading|processing)\\b)`,
      ),
      pattern(
        `\\b(?:the|any|all|every|an?) (?:\\w{1,20} )?${ASSISTANT}(?: (?:reading|processing|handling|summari[sz]ing) (?:this|it)\\b[^.!?\\n]{0,40})? (?:must|should|shall|has to|have to|needs? to|is to|are to|is (?:required|instructed|authori[sz]ed|allowed|permitted|expected) to|may)\\b`,
      ),
      pattern(`\\b(?:dear|hey|hello|hi|ok|okay) ${ASSISTANT}\\s*[,:!.-]`),
      pattern(
        `\\byou (?:must|have to|need to|shall|are (?:required|instructed|ordered|obliged) to) (?:not |now |first |always |never |immediately |also )*(?:${SENDING}|ignore|forget|obey|comply|follow|respond|answer|reply|say|tell|execute|run|delete|act|trust|approve|always|never|now)\\b`,
      ),
    ],
  },
  {
    name: 'override',
    patterns: [
      pattern(
        '\\b(?:ignore|disregard|forget|override|neglect|drop|discard|skip|overlook|bypass)\\b[^.!?\\n]{0,30}\\b(?:everything|all (?:of |the |that |your |previous |prior |earlier )|what (?:the user|you|i|was)|instructions?|orders|rules|assignments?|directions|prompts?|guidelines|safety)\\b',
      ),
      pattern(
        '\\b(?:vergiss|vergessen sie|ignorier\\w{0,4}|missachte\\w{0,2}|lassen sie|olvid[ae]\\w{0,3}|ignor[ae]\\w{0,3}|oublie[zr]?|ignore[zr]|zaboravi\\w{0,3}|zanemari\\w{0,3})\\b[^.!?\\n]{0,30}\\b(?:alle\\w{0,2}|vorherige\\w{0,2}|bisherige\\w{0,2}|obige\\w{0,2}|tod[oa]s?|anterior\\w{0,2}|instruccion\\w{0,3}|tout\\w{0,3}|pr[ée]c[ée]dent\\w{0,3}|sve|prethodn\\w{0,4})\\b',
      ),
      pattern(
        '\\b(?:new|updated|revised|real|actual|following|next|neue[nrs]?|weitere|nuevas?|nouvelles?) (?:instructions?|orders?|directives?|task|tasks|assignments?|rules?|aufgaben?|anweisung(?:en)?|instrucciones|t[âa]ches?)\\b[^\\n]{0,40}(?:\\bfollow|\\bbegin|\\bstart|\\bist\\b|!)',
      ),
      pattern('\\b(?:stop|end) (?:what you are doing|here|everything|processing|reading)\\b'),
    ],
  },
  {
    name: 'secrecy',
    patterns: [
      pattern(
        "\\b(?:do not|don't|never|must not|should not|avoid|without)\\s(?:ever )?(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|alert|alerting|disclose|disclosing|warn|warning|mention)\\b[^.!?\\n]{0,40}\\b(?:user|owner|human|anyone|anybody)\\b",
      ),
      pattern(
        '\\b(?:secretly|silently|covertly|quietly|discreetly|in the background)\\b[^.!?\\n]{0,60}\\b(?:send|forward|copy|add|upload|delete|run|collect|include|execute|transfer)',
      ),
    ],
  },
  {
    name: 'claims-permission',
    patterns: [
      pattern(
        '\\bpre-?\\s?(?:authori[sz]ed|approved|cleared)\\b[^.!?\\n]{0,60}\\b(?:action|transfer|payment|request|command|access|without|no|all|any|send|by the)',
      ),
      pattern(
        '\\b(?:(?:no|without)\\b[^.!?\\n]{0,20}\\b(?:confirmations?|approvals?|permission|verification|review|consent)\\b[^.!?\\n]{0,12}\\b(?:needed|required|necessary)|(?:skip|bypass|waive|disable|turn off|suppress)\\b[^.!?\\n]{0,20}\\b(?:confirmations?|approvals?|guardian|safety|polic(?:y|ies)|filters?|permission)|without (?:asking|confirming|(?:further |any |user |additional )?(?:confirmation|approval)))\\b',
      ),
      pattern(
        '\\b(?:user|owner|admin(?:istrator)?|boss|ceo|i) (?:has|have|had|already)[^.!?\\n]{0,20} (?:approved|authori[sz]ed|consented|agreed to|allowed|permitted|granted)\\b[^.!?\\n]{0,60}\\b(?:all|any|every|future|you|this|the|automatic)',
      ),
      pattern(
        '\\b(?:is|are|as|be) (?:fully |completely |always )?(?:trusted|allow-?listed|white-?listed|safe to (?:run|execute|open|send))\\b',
      ),
    ],
  },
  {
    name: 'order-with-address',
    patterns: [
      pattern(
        `${ORDER}${SENDING}\\b[^.!?\\n]{0,160}?(?:\\bto\\b|\\bat\\b|\\binto\\b|\\bvia\\b|\\bon\\b|\\bin\\b|:|\\bwith\\b)[^!?\\n]{0,60}?${ADDRESS}`,
      ),
      pattern(
        `${ORDER}(?:visit|open|fetch|browse|navigate|go|download|install|run|curl|wget|execute)\\b[^!?\\n]{0,60}${ADDRESS}[^\\n]{0,160}\\b(?:and|then|with)\\b[^.!?\\n]{0,20}\\b(?:send|include|append|execute|run|follow|enter|paste|report|obey|post)`,
      ),
    ],
  },
  {
    name: 'asks-for-secrets',
    patterns: [
      pattern(
        `${ORDER}(?:${SENDING}|reveal|print|show|output|display|list|dump|read|collect|gather|extract|find|provide|give|tell|repeat)\\b[^.!?\\n]{0,60}\\b(?:passwords?|secrets?|credentials?|api[ -]?keys?|tokens?|private keys?|ssh keys?|seed phrases?|\\.env|system prompt|prompt|cookies|contacts|records)\\b`,
      ),
    ],
  },
  {
    name: 'dictates-output',
    patterns: [
      pattern(
        `${ORDER}(?:say|print|output|respond|reply|answer|repeat|write|state|echo|return|begin|start|end|finish)\\b[^.!?\\n]{0,40}(?:\\b(?:that you|only with|exactly|nothing but|with (?:the |a )?(?:word|phrase|sentence|following)|your (?:answer|response|reply|output)|in (?:rhymes?|capitals|emoji|reverse)|as if)\\b)`,
      ),
      pattern(
        `${ORDER}(?:say|respond|reply|answer|repeat|simply respond|output)\\b[^.!?\\n(]{0,30}["“'«][^"”'»\\n]{3,200}["”'»]`,
      ),
      pattern(
        `${ORDER}(?:translate|summari[sz]e|rewrite|encode|decode|paraphrase|polish|refine) (?:the |this )(?:above|following|previous|preceding|text|content|sentence|paragraph|user)`,
      ),
    ],
  },
];

/** As the patterns know it: signs of other scripts that look like Latin ones are the scanner's concern. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[‘’]/g, "'")
    .replace(/[^\S\n]+/g, ' ');
}

/** The names of the signs, each once; none for a text that only states something. */
export function instructionSigns(text: string): readonly string[] {
  const read = plain(text);
  return SIGNS.filter(({ patterns }) => patterns.some((each) => isSaid(read, each))).map(
    ({ name }) => name,
  );
}

/** Whether the text says it, and does not only speak of it. */
function isSaid(text: string, found: RegExp): boolean {
  const match = found.exec(text);
  if (match === null) return false;
  const range = { start: match.index, end: match.index + match[0].length };
  return mentionOf(text, range) !== 'quoted' || carriesAction(text, range);
}
