# Publishes the draft; the folder that it goes to must be there.
set -e
cp draft.txt published/draft.txt
