/** What the keys of the screen do, as `/help` shows it. */
export const keyHelp: readonly (readonly [keys: string, effect: string])[] = [
  ['Enter', 'Send; during an answer, when that has ended'],
  ['Alt-Enter, Ctrl-J, \\ at the end', 'New line'],
  ['Up, Down', 'Move in the text, then through earlier inputs'],
  ['Ctrl-R', 'Search earlier inputs'],
  ['Tab', 'Complete commands and @paths'],
  ['Ctrl-G', 'Write in $EDITOR'],
  ['Esc, Ctrl-C', 'Stop the answer; Esc Esc takes the last message back'],
  ['Ctrl-T, Ctrl-O', 'Show the last thought, the last tool call'],
  ['Ctrl-P', 'Read the last turn in $PAGER'],
  ['Ctrl-L', 'Clear the screen, not the talk'],
  ['Ctrl-D', 'Leave'],
];
