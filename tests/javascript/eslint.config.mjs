// The page is one script: its files share one scope, so what one of them declares the others may use.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import js from "@eslint/js";
import globals from "globals";

const SCRIPTS = join(import.meta.dirname, "../../reports/jetproof_reports/page/script");
const declared = readdirSync(SCRIPTS).flatMap((name) =>
  [...readFileSync(join(SCRIPTS, name), "utf-8").matchAll(/^(?:async )?(?:function|class|const|let) (\w+)/gm)].map((found) => found[1]),
);
const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-implicit-coercion": ["error", { boolean: false }],
  "no-var": "error",
  "prefer-const": "error",
};

export default [
  {
    files: ["**/page/script/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: { ...globals.browser, ...Object.fromEntries(declared.map((name) => [name, "writable"])) },
    },
    rules: {
      ...rules,
      "no-redeclare": ["error", { builtinGlobals: false }],
      // What a file only declares is used by another; the types find what nobody uses.
      "no-unused-vars": ["error", { vars: "local", argsIgnorePattern: "^_" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": ["error", { property: "innerHTML", message: "Build elements with h()." }, { property: "outerHTML", message: "Build elements with h()." }],
    },
  },
  {
    files: ["**/adapters/**/*.js"],
    languageOptions: { globals: globals.node },
    rules: { ...rules, "no-unused-vars": ["error", { argsIgnorePattern: "^_" }] },
  },
];
