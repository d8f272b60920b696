// Blanks TypeScript's types out of a module, for versions of Node that can't. Lines and columns stay as they were.
//
// Known: type and interface declarations, type-only imports, annotations of parameters, variables and results, type
// parameters and arguments, `as`, `satisfies` and `!`. Anything else stays in the text, and won't parse as JavaScript.

const TOKEN =
  /(?<space>\s+|\/\/[^\n]*|\/\*[^]*?\*\/)|(?<word>[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*)|(?<number>\.?\d[\w.]*)|(?<string>"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')|(?<mark>=>|\.\.\.|\?\.|\?\?=?|[!=]==?|[<>]=|&&=?|\|\|=?|\*\*=?|\+\+|--|[-+*/%&|^]=|[^])/uy;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const CONTROL = new Set(["if", "for", "while", "switch", "catch", "with"]);
const OPERATORS = new Set(["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield"]);
const PAIRS = { "(": ")", "[": "]", "{": "}", "<": ">" };

export function erase(text) {
  const tokens = tokenize(text);
  const spans = new Eraser(tokens).spans();
  let erased = text;
  for (const [from, to] of spans) {
    erased = erased.slice(0, from) + erased.slice(from, to).replace(/[^\n]/g, " ") + erased.slice(to);
  }
  return erased;
}

function tokenize(text) {
  const tokens = [];
  let at = 0;
  let newline = true;
  while (at < text.length) {
    const before = tokens.at(-1);
    let kind;
    let end;
    if (text[at] === "`") {
      kind = "string";
      end = templateEnd(text, at);
    } else {
      REGEX.lastIndex = at;
      const isRegex = text[at] === "/" && !/[/*]/.test(text[at + 1] ?? "") && !endsValue(before);
      const regex = isRegex ? REGEX.exec(text) : null;
      TOKEN.lastIndex = at;
      const found = regex ?? TOKEN.exec(text);
      kind = regex ? "string" : Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
      end = at + found[0].length;
    }
    if (kind === "space") newline ||= text.slice(at, end).includes("\n");
    else {
      tokens.push({ kind, text: text.slice(at, end), start: at, end, newline });
      newline = false;
    }
    at = end;
  }
  return tokens;
}

function templateEnd(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== "`") {
    if (text[at] === "\\") at += 2;
    else if (text.startsWith("${", at)) {
      let depth = 1;
      at += 2;
      while (at < text.length && depth > 0) {
        if (text[at] === "`") at = templateEnd(text, at) - 1;
        else if (text[at] === "{") depth += 1;
        else if (text[at] === "}") depth -= 1;
        at += 1;
      }
    } else at += 1;
  }
  return at + 1;
}

function endsValue(token) {
  if (!token) return false;
  if (token.kind === "word") return !OPERATORS.has(token.text);
  return token.kind === "number" || token.kind === "string" || [")", "]", "}"].includes(token.text);
}

class Eraser {
  constructor(tokens) {
    this.tokens = tokens;
    this.found = [];
  }

  spans() {
    for (let at = 0; at < this.tokens.length; ) at = Math.max(this.step(at), at + 1);
    return this.found;
  }

  text(at) {
    return this.tokens[at]?.text;
  }

  blank(from, to) {
    if (to > from) this.found.push([this.tokens[from].start, this.tokens[to - 1].end]);
    return to;
  }

  // Looks at one token; returns where to go on.
  step(at) {
    const token = this.tokens[at];
    if (token.kind === "word") {
      if (this.startsStatement(at)) {
        const after = this.statement(at);
        if (after > at) return after;
      }
      if (token.text === "const" || token.text === "let" || token.text === "var") return this.variable(at + 1);
      if ((token.text === "as" || token.text === "satisfies") && !token.newline && endsValue(this.tokens[at - 1])) {
        return this.blank(at, this.type(at + 1));
      }
    }
    if (token.text === "(") this.parameters(at);
    if (token.text === "<") return this.typeArguments(at);
    if (token.text === "!" && !token.newline && endsValue(this.tokens[at - 1])) return this.blank(at, at + 1);
    return at + 1;
  }

  startsStatement(at) {
    const before = this.tokens[at - 1];
    return !before || [";", "{", "}"].includes(before.text) || this.tokens[at].newline || before.text === "export";
  }

  statement(at) {
    const first = this.text(at) === "export" || this.text(at) === "declare" ? at + 1 : at;
    const next = this.tokens[first + 1];
    switch (this.text(first)) {
      case "import":
        return this.importStatement(at);
      case "{":
        return this.text(at) === "export" ? this.close(first) : at;
      case "interface":
        if (next?.kind !== "word") return at;
        return this.blank(at, this.close(this.interfaceBody(first + 2)));
      case "type":
        if (next?.text === "{" && this.text(at) === "export") return this.blank(at, this.statementEnd(this.close(first + 1)));
        if (next?.kind !== "word" || next.newline) return at;
        return this.blank(at, this.statementEnd(this.type(this.find(first, "=") + 1)));
      default:
        return at;
    }
  }

  interfaceBody(at) {
    while (at < this.tokens.length && this.text(at) !== "{") at = this.text(at) === "<" ? this.close(at) : at + 1;
    return at;
  }

  importStatement(at) {
    let end = at + 1;
    while (end < this.tokens.length && this.tokens[end].kind !== "string" && this.text(end) !== ";" && this.text(end) !== "(") end += 1;
    if (this.text(end) === "(") return at;
    end = this.statementEnd(end + 1);
    if (this.text(at + 1) === "type" && this.text(at + 2) !== "from" && this.text(at + 2) !== ",") return this.blank(at, end);
    for (let one = at; one < end; one += 1) {
      if (this.text(one) !== "type" || !["{", ","].includes(this.text(one - 1)) || this.tokens[one + 1]?.kind !== "word") continue;
      let to = one;
      while (this.text(to) !== "," && this.text(to) !== "}") to += 1;
      this.blank(one, this.text(to) === "," ? to + 1 : to);
    }
    return end;
  }

  // `const name: Type`, `const {a, b}: Type`, each declarator in turn as far as it is plain.
  variable(at) {
    let next = PAIRS[this.text(at)] ? this.close(at) : at + 1;
    if (this.text(next) === "!") next = this.blank(next, next + 1);
    return this.text(next) === ":" ? this.blank(next, this.type(next + 1)) : at;
  }

  parameters(open) {
    const close = this.close(open) - 1;
    if (!this.isParameterList(open, close)) return;
    let depth = 0;
    for (let at = open + 1; at < close; at += 1) {
      const text = this.text(at);
      if (text === "(" || text === "[" || text === "{") depth += 1;
      else if (text === ")" || text === "]" || text === "}") depth -= 1;
      else if (depth === 0 && text === "?" && [":", ",", ")"].includes(this.text(at + 1))) this.blank(at, at + 1);
      else if (depth === 0 && text === ":") at = this.blank(at, this.type(at + 1)) - 1;
      else if (depth === 0 && text === "=") at = this.argumentEnd(at, close) - 1;
    }
    if (this.text(close + 1) === ":") this.blank(close + 1, this.type(close + 2));
  }

  isParameterList(open, close) {
    const before = this.tokens[open - 1];
    if (before?.text === "function" || this.text(open - 2) === "function") return true;
    if (before?.text === ">" && this.genericFunction(open - 1)) return true;
    const after = this.text(close + 1);
    if (after === "=>") return true;
    if (after === "{") return before?.kind === "word" && !CONTROL.has(before.text);
    if (after !== ":") return false;
    const result = this.text(this.type(close + 2));
    return result === "=>" || (result === "{" && before?.kind === "word");
  }

  genericFunction(at) {
    let depth = 0;
    for (; at >= 0; at -= 1) {
      if (this.text(at) === ">") depth += 1;
      if (this.text(at) === "<" && --depth === 0) break;
    }
    return this.text(at - 1) === "function" || this.text(at - 2) === "function";
  }

  argumentEnd(at, close) {
    let depth = 0;
    for (; at < close; at += 1) {
      if (["(", "[", "{"].includes(this.text(at))) depth += 1;
      else if ([")", "]", "}"].includes(this.text(at))) depth -= 1;
      else if (depth === 0 && this.text(at) === ",") break;
    }
    return at;
  }

  // `name<Type, …>(`: type parameters and arguments; anything else is a comparison.
  typeArguments(open) {
    const before = this.tokens[open - 1];
    let at = open;
    do {
      at = this.typeParameter(at + 1);
    } while (this.text(at) === ",");
    const isCall = this.text(at) === ">" && this.text(at + 1) === "(";
    return isCall && (!before || before.kind === "word" || !endsValue(before)) ? this.blank(open, at + 1) : open + 1;
  }

  typeParameter(at) {
    let end = this.type(at);
    if (this.text(end) === "extends") end = this.type(end + 1);
    return this.text(end) === "=" ? this.type(end + 1) : end;
  }

  // Returns where the type that starts at `at` ends.
  type(at) {
    if (this.text(at) === "|" || this.text(at) === "&") at += 1;
    at = this.simpleType(at);
    while (this.text(at) === "[" && !this.tokens[at].newline) at = this.close(at);
    if (this.text(at) === "is" && !this.tokens[at].newline) return this.type(at + 1);
    if (this.text(at) === "|" || this.text(at) === "&") return this.type(at + 1);
    if (this.text(at) === "extends") {
      const tested = this.type(at + 1);
      return this.text(tested) === "?" ? this.type(this.type(tested + 1) + 1) : at;
    }
    return at;
  }

  simpleType(at) {
    const token = this.tokens[at];
    if (!token) return at;
    if (["keyof", "typeof", "readonly", "unique", "infer", "asserts", "new", "abstract", "-"].includes(token.text)) {
      return this.type(at + 1);
    }
    if (token.text === "<") return this.type(this.close(at));
    if (token.text === "(") {
      const end = this.close(at);
      return this.text(end) === "=>" ? this.type(end + 1) : end;
    }
    if (token.text === "{" || token.text === "[") return this.close(at);
    if (token.kind !== "word" && token.kind !== "string" && token.kind !== "number") return at;
    let end = at + 1;
    while (this.text(end) === ".") end += 2;
    return this.text(end) === "<" ? this.close(end) : end;
  }

  // Returns what comes after the bracket that opens at `at`.
  close(at) {
    const [open, close] = [this.text(at), PAIRS[this.text(at)]];
    let depth = 0;
    for (; at < this.tokens.length; at += 1) {
      if (this.text(at) === open) depth += 1;
      else if (this.text(at) === close && --depth === 0) return at + 1;
    }
    return at;
  }

  find(at, text) {
    while (at < this.tokens.length && this.text(at) !== text) at += 1;
    return at;
  }

  statementEnd(at) {
    return this.text(at) === ";" ? at + 1 : at;
  }
}
