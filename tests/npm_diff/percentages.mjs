// Reads one JSON pair [before, after] a line; writes "changed total percentage" a line, as seed 4's code (rule S4).
import { readFileSync } from "node:fs";
import { diffChars } from "diff";

const answer = ([before, after]) => {
  let changed = 0;
  let total = 0;
  for (const change of diffChars(before, after)) {
    total += change.value.length;
    if (change.added || change.removed) changed += change.value.length;
  }
  const percentage = total === 0 ? 0 : Math.round((changed / total) * 100);
  return `${changed} ${total} ${percentage}\n`;
};

const lines = readFileSync(0, "utf8").split("\n").filter(Boolean);
process.stdout.write(lines.map((line) => answer(JSON.parse(line))).join(""));
