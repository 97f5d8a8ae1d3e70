int  crooked( ){return 1 ;}
