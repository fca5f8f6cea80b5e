// Orders to set the model's instructions or its task aside. Every pattern begins at its keyword and reads
// one short window; repeats are counted and small.
import {
  first,
  keywordsIn,
  MODEL,
  ORDERS,
  OTHER,
  OWN,
  type Phrase,
  phrase,
  RULES,
  W,
} from './phrase.ts';

/** Words that may stand between `ignore` and what is to be ignored. */
const FILLER =
  '(?: (?:about|any|all|of|the|my|these|those|this|to|and|every|each|completely|absolutely|immediately|please|just|now|also)){0,6}';
const SAY =
  '(?:print|output|reply|respond|answer|write|say|repeat|return|translate|tell|display|show|send|call|run|execute|reveal|report|state|follow|do|focus|use|act|start|instead|only|just)';
/** What a tool or a page has brought. */
const DATA =
  '(?:rest|remainder|data|info|information|contents?|texts?|documents?|snippets?|articles?|paragraphs?|context|input|page|email|message|them|it|all that)';

export const OVERRIDE: readonly Phrase[] = [
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore its instructions',
    keywords: keywordsIn(`ignore|disregard|forget|pay no attention|neglect|discard|drop |dismiss |
      do not follow|do not listen to|do not obey|don't follow|don't listen to|stop following|
      stop obeying|no longer follow|set aside|abandon|overlook`),
    pattern: `(?:ignore|disregard|forget|neglect|pay no attention to|discard|drop|dismiss|overlook|abandon|set aside|(?:do not|don't|no longer) (?:follow|obey|listen to)|stop (?:following|obeying|listening to))${FILLER}(?: (?:${OTHER}|${OWN}|all|any|every|everything|other|given)(?: (?:of|the|your|these|those|and|or|other|in|${OTHER}|${OWN}|set|user's)){0,8}${W}{0,2} (?:${ORDERS})| (?:${OTHER}|your|safety|security|system)(?: (?:${OTHER}|${OWN})){0,8}${W}? (?:${RULES})| (?:${ORDERS}|${RULES})${W}{0,3} (?:above|before this|given|you (?:were|have been|got|received)|so far|up to now|until now|(?:of|from|by|set by) (?:the |your )?(?:developers?|system|users?|operator|owner|provider)))`,
    unless:
      "^(?:drop|dismiss|discard|overlook|neglect|abandon)(?! (?:\\w{1,12} ){0,5}(?:instructions?|prompts?|orders|directions|directives|guidelines|rules|assignments)\\b)|^(?:do not|don't) (?:follow|obey|listen to) any (?:instructions?|commands?|directions|orders) (?:contained|in|inside|within|that|found|embedded|below)|(?:training|system|default|current) (?:data|files?|set|run|prompts? (?:file|field|input))\\b|^(?:do not|don't) (?:follow|obey) (?:the|these|any|all) (?:above |previous |following )?(?:steps|instructions? (?:below|in this (?:section|page|guide)))",
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore all that was said',
    keywords: keywordsIn(`ignore|disregard|forget|despite what`),
    pattern: `(?:(?:ignore|disregard|forget)(?: (?:about|now|please))? (?:everything|anything|all|what|whatever)(?:(?: (?:that|which|of|was|is|else|has|been|written|i|we|you|ve|were|have|had|they|just|ever|said|told)){0,6} (?:above|before (?:this|that)|prior to this|earlier|previously|so far|until now|beforehand|told|said before|discussed|talked about|written above|instructed|gave you|i said|i told|were told|i wrote)|[.,;:!]| and (?:write|say|print|listen|start|answer|tell|do|follow|obey|focus|instead|reply|respond|act|output|just|only))|despite what you(?:'ve| have| were) been told)`,
    unless: '^forget everything you (?:know|knew|thought|learned) about',
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to leave what it reads and to do something else',
    keywords: ['ignore', 'disregard', 'forget', 'ignores', 'stop '],
    pattern: `(?:(?:ignore|disregard|forget)${FILLER}(?: (?:above|following|previous|preceding|other|remaining))? (?:${ORDERS}|${DATA})(?: (?:of|in|from|on|except|for|below|above|that|which|the|this|these|is|here|data|text|document|page|following)){0,6}(?: (?:and|then|but|instead|just|simply|please|only|now)){1,4} ${SAY}|(?:ignore|disregard|forget)${FILLER} ${DATA} except(?: for)? (?:the|this|what)|(?:stop|disregard|ignore|forget)(?: (?:the|your|this|that|my|doing))${W}{0,3} (?:tasks?|question|request|analysis|summary|summari[sz]ation|translation|job|work|conversation)${W}{0,4} instead${W}{0,2} ${SAY})\\b`,
    unless:
      '^(?:ignore|disregard|forget)(?: (?:it|them|this|the (?:message|warning|error|output)))?(?: (?:and|then|but|just|simply|please|only|now)){1,4} (?:use|run|do|start|call|show|return|send|report|follow|execute)\\b',
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to set its rules aside',
    keywords: ['override', 'bypass', 'overrid', 'circumvent', 'supersede', 'not bound by'],
    pattern: `(?:override|overrides|bypass|circumvent|supersedes?|not bound by)(?: (?:the|any|all|your|of|every|these|and|my|user's)){0,8}(?: (?:${OTHER}|your|safety|ethical|developer))(?: (?:${OTHER}|${OWN}|and|or)){0,8}${W}{0,2} (?:${ORDERS}|rules?|polic(?:y|ies)|restrictions?|limits|protocols?|filters?)`,
    unless:
      'override (?:the )?(?:default|system|current|existing|original|previous|initial) (?:settings|policy|rules?|polic)|bypass content',
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore its instructions, in another language',
    keywords: keywordsIn(`ignorier|vergiss|vergessen sie|missacht|ignora|ignore|ignorez|oubliez|
      oublie|olvid|dimentic|esquec|desconsider|negeer|vergeet|zignoruj|zapomnij|zaboravi|
      ignoriraj|abweichend|hore nicht auf|vorangegangenen|vorherigen|bisherigen|unut`),
    pattern: `(?:(?:ignorier(?:e|en sie)|missacht(?:e|en sie)|ignora|ignorez?|desconsidere?|negeer|zignoruj|ignoriraj)${W}{0,4} (?:anweisung(?:en)?|instruktionen|vorgaben|angaben|instrucciones|consignes|istruzioni|instrucoes|instructies|instrukcje|instructions precedentes|reglas|regole|regras|regeln|befehle|auftrage)|(?:vergiss|vergessen sie)(?: (?:jetzt|nun|bitte|mal)){0,2} (?:alles?|samtliche|die|deine|ihre)\\b|(?:oubliez?|olvid(?:a|e|ad|en|ar)|dimentica(?:te)?|esqueca|vergeet|zapomnij|zaboravi(?:te)?)${W}? (?:tout|toutes|tous|todo|todas|todos|tutto|tutte|tutti|tudo|alles|alle|wszystk\\w{1,5}|sve|instructions|consignes|instrucciones|istruzioni)\\b|hore nicht auf (?:alles|alle|die|das)|abweichend (?:zu|von)${W}{0,2} (?:vorherigen|bisherigen|obigen)|(?:vorangegangenen|vorherigen|bisherigen)${W}{1,6} (?:hinter sich|irrelevant|zu streichen|ungultig|vergessen|ignorieren))`,
    unless:
      '^(?:vergiss|vergessen sie)(?: \\w{1,9}){0,2} (?:die|deine|ihre) (?!anweisung|aufgabe|auftra|instruktion|regel|vorgabe|angabe|befehl|obig|vorherig|bisherig)',
  }),
  phrase({
    id: 'override-instructions',
    label: 'tells the model to ignore its instructions, in another language',
    keywords: keywordsIn(
      `忽略|无视|忘记|無視|忘れ|これまでの指示|以前の指示|이전 지시|이전의 지시|이전 명령|забудь|игнорируй|Забудь|Игнорируй|تجاهل|bỏ qua`,
    ),
    over: 'marks',
    pattern:
      '(?:忽略|无视|忘记)[^。.！!]{0,8}(?:之前|以上|上述|先前|前面|所有)[^。.！!]{0,8}(?:指令|指示|提示|说明|规则)|(?:これまで|以前)の指示.{0,12}(?:無視|忘れ)|이전(?:의)? ?(?:지시|명령).{0,12}(?:무시|잊)|(?:забудь(?:те)?|игнорируй(?:те)?) ?[^.!]{0,24}(?:все|всё|инструкци|предыдущ)|تجاهل[^.]{0,24}(?:التعليمات|الأوامر)|bỏ qua[^.]{0,24}(?:hướng dẫn|chỉ dẫn|lệnh)',
  }),
  phrase({
    id: 'override-instructions',
    label: "says that the model's instructions no longer hold",
    keywords: keywordsIn(`previous instruction|prior instruction|earlier instruction|
      original instruction|your instruction|your guidelines|your restrictions|your rules|
      safety check|safety filter|safety protocol|safety rule|security protocol|
      restrictions|all prior|previous prompt|guardrails`),
    pattern: `(?:(?:all |any )?(?:previous|prior|earlier|original|your|safety|security)(?: (?:previous|prior|original|safety|system))?(?: (?:instructions?|guidelines|restrictions|rules|prompt|checks?|filters?|protocols?))|restrictions|guardrails)(?: (?:that|which) [a-z]{1,16}${W}{0,3})? (?:is|are|were|have been|has been|do|does)(?: (?:now|all|no|not|longer|been|hereby)){0,3} (?:void|revoked|suspended|cancel?led|superseded|overridden|lifted|disabled|obsolete|invalid|apply|bypassed|waived|null|irrelevant|to)\\b`,
    unless:
      '(?:do|does) apply|(?:are|is|were) (?:not|never) (?:void|disabled|lifted|removed|bypassed)|(?<!your)(?: instructions?| rules| prompt) (?:is|are) (?:now )?to\\b|\\b(?:is|are|were) to\\b|^(?:restrictions|guardrails)',
  }),
  phrase({
    id: 'new-instructions',
    label: 'gives the model another task',
    keywords: keywordsIn(`new instruction|new system|updated instruction|real instruction|
      actual instruction|new directive|new task|new objective|revised instruction|your new|
      true instruction|secret instruction|hidden instruction|priority instruction|updated system|
      your instructions are`),
    pattern: `(?:(?:your )?(?:new|updated|real|actual|true|revised|secret|hidden|priority)(?: (?:system|priority|secret|hidden|primary|main|only))? (?:instructions?|directives?|tasks?|objectives?|prompt|role|goal|persona|orders)(?: (?:for|to) (?:you|the (?:${MODEL})|(?:${MODEL})))?(?: (?:is|are|follows?|begin|start)(?: (?:as follows|now|to|here|that))?)?(?: |$)(?:you|your|please|instead|from now|always|send|ignore|call|use|read|reply|respond|answer|output|print|write|delete|forward|do|act|obey|follow|upload|run|execute|fetch|reveal|say|tell|show|spell)|your instructions are now)\\b`,
    unless:
      'new (?:task|objective|goal|role) (?:is|to|for)? ?(?:the|your team|add|be|create|please)\\b|new (?:task|objective)s? (?:please|to|you)|^new (?:tasks?|objectives?|roles?|goals?) (?:call|use|run|do|write|show|send|delete|read)',
  }),
  phrase({
    id: 'new-instructions',
    label: 'gives the model another task',
    keywords: keywordsIn(`adhere to the following|obey the following|follow these|do the following|
      follow only|now come|comes the|there are a few more task|focus on your|concentrate on your|
      focus only on|focus exclusively|new assignment|with another task|folgen neue|folgen weitere|
      kommen neue|kommt eine neue|deine neue aufgabe|die neue aufgabe|neuen aufgabe|neue aufgabe|
      neue anweisungen|bei folgender frage|mit folgender aufgabe|with the following task|
      before you can|stop what you|stop everything|task that i gave you|folgende frage|
      neue herausforderung|second test|additional instruction|core instruction|
      follow instruction`),
    pattern: `(?:(?:strictly )?(?:adhere to|obey) the following (?:instruction|order|command|directive)s?|(?:follow|obey) (?:only )?these (?:new )?(?:instructions?|orders|commands) (?:instead|only|immediately)|follow only (?:these|the following|my) (?:instructions?|orders)|now come(?:s)? (?:the |a |some |a few )?(?:new|more|next|second|another)|here comes the (?:second|next|new|real)|comes the (?:second|next|new|real) (?:test|task)|there are a few more tasks|(?:focus|concentrate) on your new (?:task|assignment|instructions?)|focus (?:only|exclusively) on (?:this|the) (?:task|information|following)|(?:start|begin)? ?with a new assignment|new assignment[:,]|help with another task|with another task[.:,]|(?:folgen|kommen) (?:neue|weitere)${W}? (?:aufgaben|anweisungen|auftrage)|kommt eine neue aufgabe|(?:auf )?(?:deine|die) neue aufgabe|(?:mit )?einer? neuen aufgabe|neue (?:aufgabe|anweisungen)[.:,]|(?:bei|mit) folgender (?:frage|aufgabe)|with the following task[.:]|before you can (?:solve|complete|finish|do) the task|task that i gave you|stop what you(?:'re| are) doing|stop everything|neue herausforderung fur|additional instructions? [-:]|do the following (?:first|instead|immediately|task)|(?:core|follow) instruction\\b)`,
    unless: '^(?:stop everything|follow instruction|do the following)(?! ?[!:]| instead| first)',
  }),
  phrase({
    id: 'urgent-order',
    label: 'orders the reader to act at once and elsewhere',
    keywords: ['you must', 'you are required', 'requires you to', 'you need to'],
    over: 'marks',
    pattern: `(?:you (?:must|need to|are required to)|requires you to) (?:immediately|now|at once|suspend|first|instantly)\\b${first('verb', `.{0,120}?\\b(?:navigate|connect|transmit|execute|upload|download and run|run the|grant|visit|access|send|disable|call)\\b`)}.{0,300}?(?:https?:|ftp:|wss?:|[\\w-]{2}\\.(?:com|net|org|io|biz|xyz|ru|cn|info|site|online|test|invalid|example)\\b|credentials)`,
    unless:
      '\\b(?:docs?|documentation|install|dashboard|settings|sign in|log in|register|cluster|config|server|kubectl|container)\\b',
  }),
];
