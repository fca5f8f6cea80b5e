// The words that phrases are made of, as parts of patterns. A space stands for what is between words.
import type { Phrase } from '../phrase.ts';

/** One more word. */
export const W = "(?: [a-z0-9'\\u0080-\\uffff]{1,32})";
export const OTHER =
  'previous|prior|preceding|earlier|above|foregoing|past|existing|original|initial|older?';
export const OWN = 'your|system|safety|security|developer|content|ethical|hidden|default|current';
export const ORDERS =
  'instructions?|prompts?|directives?|guidelines?|guardrails?|programming|training|orders|system messages?';
export const RULES =
  'rules?|polic(?:y|ies)|constraints?|restrictions?|limitations?|commands?|messages?|context|conversation|tasks?|filters?|protocols?|checks?|measures|mechanisms|protections';
export const MODEL =
  'ai|a i|ai systems?|automated (?:systems?|processors?|agents?|readers?)|llms?|assistants?|language models?|models?|agents?|chatbots?|bots?|claude|chatgpt|gpt|gemini|copilot|cursor|codex';
export const TELL =
  'tell|inform|mention|notify|alert|reveal|disclose|show|report|let|warn|explain|say|ask';

/** A phrase of the class that most of them are. */
export const phrase = (data: Omit<Phrase, 'class'>): Phrase => ({ class: 'injection', ...data });
